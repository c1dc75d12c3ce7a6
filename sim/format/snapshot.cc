#include "sim/format/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sim/format/snapshot_builder.h"

namespace tidemark {

namespace {

/// Fills in addresses that old versions leave out, and reports every segment whose blocks
/// contradict it.
void check_segments(Snapshot& snapshot) {
  std::vector<Problem> problems;
  const auto source = std::make_shared<SourceText>(SourceText{snapshot.name, {}, 1, 0});
  const auto report = [&problems, &source](const SnapshotSegment& segment, std::string message) {
    Problem problem;
    problem.at.source = source;
    problem.path = fmt::format("segment 0x{:x} of device {}", segment.address, segment.device);
    problem.message = std::move(message);
    problems.push_back(std::move(problem));
  };
  std::vector<bool> taken(snapshot.blocks.size());
  for (const SnapshotSegment& segment : snapshot.segments) {
    if (problems.size() > InputError::kMaxProblems) break;
    std::uint64_t next = segment.address;
    std::uint64_t covered = 0;
    bool fits = true;
    for (std::size_t i = segment.first_block; fits && i < segment.first_block + segment.block_count;
         ++i) {
      SnapshotBlock& block = snapshot.blocks[i];
      if (taken[i]) {
        report(segment, "its list of blocks is another segment's too");
        fits = false;
        break;
      }
      taken[i] = true;
      if (block.address == 0) block.address = next;
      if (block.bytes > segment.total_bytes - covered) {
        report(segment, fmt::format("its blocks hold more than its total_size of {} bytes",
                                    segment.total_bytes));
        fits = false;
      } else if (block.address != next) {
        report(segment,
               fmt::format("a block at 0x{:x} where 0x{:x} comes next", block.address, next));
        fits = false;
      } else if (block.state != SnapshotBlockState::kInactive &&
                 block.requested_bytes > block.bytes) {
        report(segment, fmt::format("its block at 0x{:x} of {} bytes serves a request of {}",
                                    block.address, block.bytes, block.requested_bytes));
        fits = false;
      }
      next += block.bytes;
      covered += block.bytes;
    }
    if (fits && covered != segment.total_bytes) {
      report(segment, fmt::format("its blocks hold {} bytes, its total_size is {}", covered,
                                  segment.total_bytes));
    }
  }
  std::ranges::stable_sort(snapshot.segments, {}, [](const SnapshotSegment& segment) {
    return std::pair(segment.device, segment.address);
  });
  for (std::size_t i = 1; problems.empty() && i < snapshot.segments.size(); ++i) {
    const SnapshotSegment& before = snapshot.segments[i - 1];
    const SnapshotSegment& segment = snapshot.segments[i];
    if (before.device == segment.device && before.total_bytes > segment.address - before.address) {
      report(segment, fmt::format("overlaps the one at 0x{:x}", before.address));
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

/// Refuses amounts that are nobody's: whoever adds them up stays within 64 bits.
void check_amounts(const Snapshot& snapshot) {
  constexpr Bytes kMost = Bytes{1} << 62U;
  Bytes sum = 0;
  const auto add = [&](Bytes bytes) {
    // One amount has at most 56 bits.
    sum += bytes;
    if (sum <= kMost) return;
    Problem problem;
    problem.at.source = std::make_shared<SourceText>(SourceText{snapshot.name, {}, 1, 0});
    problem.message = "its events and segments amount to more than 4 EiB: the file is damaged";
    throw InputError(std::move(problem));
  };
  for (const SnapshotEvent& event : EventTrace(snapshot.events, 0, snapshot.events.size()))
    add(event.bytes);
  for (const SnapshotSegment& segment : snapshot.segments) add(segment.total_bytes);
  for (const SnapshotBlock& block : snapshot.blocks) add(block.requested_bytes);
}

}  // namespace

Snapshot read_snapshot(ByteSource& source, const std::string& name, const ReadProgress& progress,
                       PickleLimits limits) {
  Snapshot snapshot;
  snapshot.name = name;
  PickleReader reader(source, name, limits);
  SnapshotBuilder builder(snapshot, reader.texts());
  const PickleValue whole = reader.read(builder, progress);
  builder.finish(reader, whole);
  snapshot.texts = std::move(reader.texts());
  check_segments(snapshot);
  check_amounts(snapshot);
  return snapshot;
}

Snapshot read_snapshot_file(const std::string& path, const ReadProgress& progress) {
  const std::unique_ptr<ByteSource> source = unzipped(bytes_of_file(path), path);
  return read_snapshot(*source, path, progress);
}

}  // namespace tidemark
