#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace tidemark {

/// Starts up to `count` threads that call `work`; fewer where the system refuses more. Requires:
/// `work` outlives them, throws nothing, and does without the threads that there are not.
template <class Work>
std::vector<std::thread> start_threads(std::size_t count, const Work& work) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  try {
    while (threads.size() < count) threads.emplace_back([&work] { work(); });
  } catch (const std::system_error&) {
    // The work is shared by those that were started, and by the caller.
  }
  return threads;
}

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
  const std::size_t workers = std::min<std::size_t>(threads, count);
  std::vector<std::thread> others = start_threads(workers > 0 ? workers - 1 : 0, work);
  work();
  for (std::thread& thread : others) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) std::rethrow_exception(error);
  }
}

}  // namespace tidemark
