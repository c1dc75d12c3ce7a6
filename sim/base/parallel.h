#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace tidemark {

/// Calls task(i) for each i below `count`, several at a time; `threads` 0: one a processor. Returns
/// when all are done. Requires: the tasks do not depend on one another. Errors: the first by i of
/// those that the tasks threw, after all have run.
template <class Task>
void in_parallel(std::size_t count, unsigned threads, const Task& task) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::exception_ptr> errors(count);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        task(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  std::vector<std::thread> others;
  const std::size_t workers = std::min<std::size_t>(threads, count);
  for (std::size_t i = 1; i < workers; ++i) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) std::rethrow_exception(error);
  }
}

}  // namespace tidemark
