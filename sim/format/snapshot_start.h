#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/format/snapshot_program.h"

namespace tidemark {

/// What a program is while it is being made: who holds which address, and how much of each
/// expandable range is mapped.
struct StartedProgram : SnapshotProgram {
  std::vector<std::pair<std::uint64_t, RequestId>> start_ids;
  std::map<std::tuple<StreamId, std::uint16_t, bool>, Bytes> mapped;  ///< by stream, pool, small
};

/// Writes the instructions that bring about SnapshotProgram::start. For make_snapshot_program
/// alone.
///
/// Exact: every segment is tiled from its beginning by requests for its live blocks and, between
/// them, for its free blocks; as each is tiled completely before the next begins, the only free
/// block that a request can find is the rest of its own segment. Then the free blocks' requests are
/// given up, and neighbours merge as they had.
class StartBuilder {
 public:
  /// `from_event`: where the range really begins.
  StartBuilder(const Snapshot& snapshot, const SnapshotProgramOptions& options,
               std::size_t from_event, StartedProgram& out)
      : snapshot_(snapshot), options_(options), from_event_(from_event), out_(out) {}
  void run();

 private:
  /// A stretch of a segment: a live block, or free.
  struct Tile {
    Bytes bytes = 0;
    const StateBlock* block = nullptr;
  };
  void plain();
  void exact();
  void tile_segment(const StateSegment& segment, std::vector<Tile> tiles);
  [[nodiscard]] std::vector<Tile> tiles_of(const StateSegment& segment, std::size_t& next_block);
  [[nodiscard]] Bytes revealed_bytes(const StateBlock& block, Bytes bytes, Bytes gap);
  void note_first_events();
  RequestId request(Bytes bytes, const StateSegment& segment, const StateBlock* block);
  void give_up(RequestId id);
  void temporary(Bytes bytes, const StateSegment& segment, bool hole);

  const Snapshot& snapshot_;
  const SnapshotProgramOptions& options_;
  std::size_t from_event_;
  StartedProgram& out_;
  /// When an address is first allocated and first freed in the range, by address.
  struct FirstEvent {
    std::uint64_t address = 0;
    std::size_t event = 0;
  };
  std::vector<FirstEvent> first_allocs_;
  std::vector<FirstEvent> first_frees_;
  std::vector<RequestId> free_blocks_;  ///< requests to be given up at the end
  std::vector<RequestId> holes_;        ///< requests on pages that were not mapped
  bool inexact_ = false;
  std::size_t of_unknown_size_ = 0;
  std::size_t made_up_ = 0;  ///< requests for free stretches
};

}  // namespace tidemark
