#pragma once

#include <pthread.h>

#include <cstddef>
#include <functional>
#include <stdexcept>

/// Runs `body` to its end on a thread whose stack holds `bytes`: sanitizers make frames several
/// times as large as they are in a user's build, and what counts frames must not depend on that.
/// `body` must not throw.
inline void with_stack(std::size_t bytes, const std::function<void()>& body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  pthread_t thread{};
  const auto start = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  void* argument = const_cast<std::function<void()>*>(&body);
  const int failed = pthread_create(&thread, &attributes, start, argument);
  pthread_attr_destroy(&attributes);
  if (failed != 0) throw std::runtime_error("no thread of that size");
  pthread_join(thread, nullptr);
}
