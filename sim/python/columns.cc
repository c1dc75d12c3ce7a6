#include "sim/python/columns.h"

#include <nanobind/ndarray.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sim/report/headline.h"
#include "sim/timeline/timeline.h"

namespace tidemark::python {

namespace nb = nanobind;

namespace {

using Array = nb::ndarray<nb::numpy, nb::ro>;

/// Numbers of one kind that lie at equal distances.
struct Column {
  std::string_view name;
  std::size_t offset = 0;  ///< within a record, in bytes
  nb::dlpack::dtype type;
};

nb::str text(std::string_view view) { return nb::str(view.data(), view.size()); }

/// Adds the columns of `count` records of `record_bytes` each.
void add(nb::dict& out, const void* records, std::size_t count, std::size_t record_bytes,
         nb::handle owner, std::initializer_list<Column> columns) {
  for (const Column& column : columns) {
    const auto* first = static_cast<const std::byte*>(records);
    if (first != nullptr) first += column.offset;
    const auto stride = static_cast<std::int64_t>(record_bytes / (column.type.bits / 8U));
    const Array array(first, 1, &count, owner, &stride, column.type);
    out[text(column.name)] = nb::cast(array);
  }
}

}  // namespace

nb::dict columns_of(const EventColumns& columns, nb::handle owner) {
  constexpr nb::dlpack::dtype kByte = nb::dtype<std::uint8_t>();
  constexpr nb::dlpack::dtype kShort = nb::dtype<std::uint16_t>();
  constexpr nb::dlpack::dtype kWord = nb::dtype<std::uint32_t>();
  constexpr nb::dlpack::dtype kLong = nb::dtype<std::uint64_t>();
  nb::dict out;
  if (columns.events != nullptr) {
    add(out, columns.events->data(), columns.events->size(), sizeof(Event), owner,
        {{"action", offsetof(Event, action), kByte},
         {"bytes", offsetof(Event, bytes), kLong},
         {"address", offsetof(Event, address), kLong},
         {"stream", offsetof(Event, stream), kShort},
         {"id", offsetof(Event, id), kWord},
         {"instruction", offsetof(Event, instruction), kWord}});
  }
  if (columns.labels != nullptr) {
    add(out, columns.labels->data(), columns.labels->size(), sizeof(LabelId), owner,
        {{"op", 0, kWord}});
  }
  if (columns.times_ns != nullptr) {
    add(out, columns.times_ns->data(), columns.times_ns->size(), sizeof(Nanoseconds), owner,
        {{"time_ns", 0, nb::dtype<Nanoseconds>()}});
  }
  if (columns.samples != nullptr) {
    add(out, columns.samples->data(), columns.samples->size(), sizeof(MemorySample), owner,
        {{"reserved_bytes", offsetof(MemorySample, reserved), kLong},
         {"active_bytes", offsetof(MemorySample, active), kLong},
         {"allocated_bytes", offsetof(MemorySample, allocated), kLong},
         {"requested_bytes", offsetof(MemorySample, requested), kLong},
         {"inactive_split_bytes", offsetof(MemorySample, inactive_split), kLong},
         {"largest_free_bytes", offsetof(MemorySample, largest_free), kLong}});
  }
  if (columns.live != nullptr) {
    add(out, columns.live->data(), columns.live->size(), sizeof(Bytes), owner,
        {{"ideal_bytes", 0, kLong}});
  }
  return out;
}

nb::dict host_columns_of(const std::vector<HostSample>& samples, nb::handle owner) {
  constexpr nb::dlpack::dtype kWord = nb::dtype<std::uint32_t>();
  constexpr nb::dlpack::dtype kLong = nb::dtype<std::uint64_t>();
  nb::dict out;
  add(out, samples.data(), samples.size(), sizeof(HostSample), owner,
      {{"event", offsetof(HostSample, event), kWord},
       {"phase", offsetof(HostSample, phase), kWord},
       {"op", offsetof(HostSample, label), kWord},
       {"time_ns", offsetof(HostSample, time_ns), nb::dtype<Nanoseconds>()},
       {"pageable_bytes", offsetof(HostSample, pageable), kLong},
       {"pinned_bytes", offsetof(HostSample, pinned_held), kLong},
       {"pinned_in_use_bytes", offsetof(HostSample, pinned_in_use), kLong}});
  return out;
}

nb::dict category_columns(const std::vector<Event>& events,
                          const std::vector<MemorySample>& samples,
                          const std::vector<Category>& categories) {
  auto matrix = std::make_unique<std::vector<CategoryBytes>>();
  {
    const nb::gil_scoped_release unlocked;
    std::vector<Amounts> amounts;
    amounts.reserve(samples.size());
    for (const MemorySample& sample : samples) amounts.push_back(amounts_of(sample));
    *matrix = stack_categories(events, amounts, categories);
  }
  const std::vector<CategoryBytes>& rows = *matrix;
  const nb::capsule owner(matrix.get(), [](void* held) noexcept {
    delete static_cast<std::vector<CategoryBytes>*>(held);
  });
  (void)matrix.release();
  nb::dict out;
  for (const Category category : kCategoryOrder) {
    const auto index = static_cast<std::size_t>(category);
    add(out, rows.data(), rows.size(), sizeof(CategoryBytes), owner,
        {{kCategoryNames[index], index * sizeof(Bytes), nb::dtype<Bytes>()}});
  }
  return out;
}

}  // namespace tidemark::python
