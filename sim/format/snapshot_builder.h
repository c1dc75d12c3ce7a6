#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/format/pickle.h"
#include "sim/format/snapshot.h"

namespace tidemark {

/// Recognises a snapshot's dicts and lists by their keys as they come out of the pickle, innermost
/// first, and keeps them as rows of a Snapshot; everything else is dropped at once. For
/// read_snapshot alone.
class SnapshotBuilder final : public PickleConsumer {
 public:
  SnapshotBuilder(Snapshot& snapshot, Texts& texts);

  PickleValue dict(PickleReader& reader, PickleValue before,
                   std::span<const PickleValue> items) override;
  PickleValue list(PickleReader& reader, PickleValue before,
                   std::span<const PickleValue> items) override;
  PickleValue tuple(PickleReader& reader, std::span<const PickleValue> items) override;
  [[nodiscard]] std::size_t memory_bytes() const override;

  /// Takes the reader's result as the whole snapshot. Errors: InputError when it is something else.
  void finish(const PickleReader& reader, PickleValue whole);

 private:
  enum Kind : std::uint8_t {
    kFrame = PickleValue::kConsumer,  ///< payload: index into frames
    kStack,
    kEvent,
    kIgnoredEvent,  ///< of a kind not known
    kBlock,
    kSegment,
    kAnnotation,
    kPool,
    kRange,  ///< payload: index into ranges_
    kSettings,
    kDivisions,
    kTop,
    kDefect,  ///< would be a row but lacks something; payload: index into defects_
    kOpaque,
  };
  /// A list of rows: consecutive rows of one table.
  struct Range {
    std::uint8_t kind = 0;
    std::size_t first = 0;
    std::size_t count = 0;
  };
  struct Fields;

  PickleValue frame(PickleReader& reader, const Fields& fields);
  PickleValue event(PickleReader& reader, const Fields& fields);
  PickleValue block(PickleReader& reader, const Fields& fields);
  PickleValue segment(PickleReader& reader, const Fields& fields);
  PickleValue annotation(PickleReader& reader, const Fields& fields);
  PickleValue settings(PickleReader& reader, const Fields& fields);
  PickleValue divisions(PickleReader& reader, std::span<const PickleValue> items);
  void top(const Fields& fields);
  PickleValue stack(PickleReader& reader, PickleValue before, std::span<const PickleValue> items);
  PickleValue defect(const PickleReader& reader, std::string_view what, std::string_view key);

  std::uint32_t intern_frame(const SnapshotFrame& frame);
  StackId intern_stack(std::span<const std::uint32_t> frames);
  StreamId intern_stream(const PickleReader& reader, std::uint64_t handle);
  std::uint64_t whole(const PickleReader& reader, PickleValue value, std::string_view what,
                      std::string_view key) const;
  TextId text_of(const PickleReader& reader, PickleValue value, std::string_view what,
                 std::string_view key) const;
  StackId stack_of(PickleValue value) const;
  std::uint8_t device_of(const PickleReader& reader, PickleValue value,
                         std::string_view what) const;
  void take_traces(const PickleReader& reader);
  void take_segments(const PickleReader& reader);
  void order_streams();

  Snapshot& snapshot_;
  Texts& texts_;
  std::vector<Range> ranges_;
  std::vector<std::string> defects_;
  std::vector<std::uint32_t> frame_slots_;
  std::vector<std::uint32_t> stack_slots_;
  std::vector<std::uint32_t> scratch_;
  std::size_t last_stream_ = 0;
  PickleValue segments_value_;
  PickleValue traces_value_;
  PickleValue annotations_value_;
  bool has_segments_ = false;
};

}  // namespace tidemark
