#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/release.h"
#include "sim/format/byte_source.h"
#include "sim/program/instruction.h"
#include "sim/program/instruction_log.h"

namespace tidemark {

/// The release under which a trace is played where its reader names none. A trace does not say its
/// own; the format came with recordings of this one.
inline constexpr Version kTraceRelease{2, 11};

/// A request trace in memory: what a program asked of the allocator, and the names of its moments
/// (docs/formats/tmt.md).
struct RequestTrace {
  std::vector<Instruction> instructions;
  Labels labels;  ///< of kMark
};

/// The same of a long recording.
struct PackedTrace {
  InstructionLog instructions;
  Labels labels;
};

/// Either of them, to look at. It must outlive this.
struct Requests {
  Requests(const RequestTrace& trace)  // NOLINT(google-explicit-constructor): a view
      : instructions(trace.instructions), labels(&trace.labels) {}
  Requests(const PackedTrace& trace)  // NOLINT(google-explicit-constructor): a view
      : instructions(trace.instructions), labels(&trace.labels) {}
  Instructions instructions;
  const Labels* labels;
};

/// Reads a `.tmt` from a stream, line by line: memory is that of the result, never that of the
/// text. `name` is for messages. Ids are checked: an alloc of a live ID is a problem, a free or use
/// of a dead one is not (a refused request leaves its ID dead). Errors: IoError; InputError with
/// every problem, each with file, line and column, at most kMaxProblems. Cost: linear; about 100 ns
/// a line.
RequestTrace read_request_trace(ByteSource& source, std::string_view name);

/// The same from a file, gzipped or not; "-" is standard input.
RequestTrace read_request_trace_file(const std::string& path);

/// Appends the trace as `.tmt` text. Instructions that a trace cannot say (kLaunch, kRecord, kWait,
/// kDeviceBytes, kPool) are left out. Requires: labels hold no line break and no '#'.
void write_request_trace(std::span<const Instruction> instructions, const Labels& labels,
                         std::string& out);
/// The first line alone, and the lines of some instructions: for who writes a trace in parts.
void write_trace_head(std::string& out);
void write_trace_lines(std::span<const Instruction> instructions, const Labels& labels,
                       std::string& out);

}  // namespace tidemark
