#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "sim/alloc/allocator.h"
#include "sim/base/sim_time.h"
#include "sim/program/event.h"
#include "sim/run/run_result.h"

namespace tidemark::python {

/// What a result keeps of each event, one entry an event; those that may be left out are null.
struct EventColumns {
  const std::vector<Event>* events = nullptr;
  const std::vector<MemorySample>* samples = nullptr;
  const std::vector<LabelId>* labels = nullptr;
  const std::vector<Nanoseconds>* times_ns = nullptr;
  const std::vector<Bytes>* live = nullptr;
};

/// One read-only NumPy array a column, by its name: views of the vectors' own memory, which `owner`
/// keeps alive. Requires: the vectors belong to `owner` and do not change any more.
nanobind::dict columns_of(const EventColumns& columns, nanobind::handle owner);

/// The same of the host's memory, one entry a change. Requires: as columns_of().
nanobind::dict host_columns_of(const std::vector<HostSample>& samples, nanobind::handle owner);

/// The allocated bytes of each category after each event, by the category's name, in the order in
/// which they are stacked. Cost: linear; the arrays share one matrix of their own.
nanobind::dict category_columns(const std::vector<Event>& events,
                                const std::vector<MemorySample>& samples,
                                const std::vector<Category>& categories);

}  // namespace tidemark::python
