#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/base/bytes.h"
#include "sim/base/state_image.h"

namespace tidemark {

/// One GPU's memory as its driver hands it out: an amount that is taken or free, and addresses by
/// the policy `driver`. Policy `recorded`: addresses in a given order, for replaying what a real
/// driver answered. Several allocators (processes' libraries, backends) may share one object; it
/// must outlive them. Derive from it to place memory otherwise, on a real device for example.
/// Source: docs/rules/devices.md#3.1, #3.2.
class DeviceMemory {
 public:
  struct Config {
    Bytes total_bytes = 0;    ///< what cudaGetDeviceProperties says
    Bytes context_bytes = 0;  ///< gone from the start
    Bytes other_bytes = 0;    ///< taken by other processes, gone from the start
    std::uint8_t device = 0;  ///< its index, which moves the address ranges
  };

  /// What a driver answered, in the order of the questions.
  struct Recording {
    struct Segment {
      Bytes bytes = 0;
      std::uint64_t address = 0;
    };
    std::vector<Segment> segments;            ///< of each cudaMalloc
    std::vector<std::uint64_t> reservations;  ///< of each cuMemAddressReserve
  };

  /// More than any device has.
  static constexpr Bytes kMostBytes = Bytes{1} << 59U;
  /// What every cudaMalloc is rounded up to, of memory and of addresses.
  static constexpr Bytes kGranule = 2 * kMiB;
  static constexpr Bytes kPieceBytes = 32 * kMiB;
  static constexpr std::uint64_t kBase = 0x200000000000U;
  static constexpr std::uint64_t kDeviceStride = 0x10000000000U;
  static constexpr std::uint64_t kVirtualBase = 0x300000000000U;
  static constexpr Bytes kVirtualBytes = Bytes{16} << 40U;

  /// Requires: context_bytes + other_bytes <= total_bytes <= kMostBytes.
  explicit DeviceMemory(const Config& config);
  virtual ~DeviceMemory() = default;

  /// Policy `recorded` from now on: each allocate() takes the first answer left that has its size,
  /// each reserve() the next one; when none is left, the policy `driver` answers. No two answers
  /// that are held at once overlap, whatever the recording says: an answer that would is passed
  /// over. Amounts are kept as always. Requires: nothing is taken yet; recorded addresses and sizes
  /// are at most 2^56.
  void follow(Recording recording);
  /// How many questions the recording had no answer for.
  [[nodiscard]] std::size_t unrecorded() const { return unrecorded_; }

  /// cudaMalloc. Errors: std::nullopt when memory or addresses do not suffice; nothing is taken
  /// then. Cost: linear in the number of pieces.
  virtual std::optional<std::uint64_t> allocate(Bytes bytes);
  /// cudaFree. Requires: `address` came from allocate(`bytes`) and is not yet freed.
  virtual void free(std::uint64_t address, Bytes bytes);

  /// cuMemAddressReserve: addresses alone. Errors: std::nullopt when no unused range holds `bytes`.
  virtual std::optional<std::uint64_t> reserve(Bytes bytes);
  /// How much of what reserve(`bytes`) answered with is there: all, but where another address of
  /// the recording comes sooner.
  [[nodiscard]] Bytes reserved_room(std::uint64_t address, Bytes bytes) const;
  virtual void release(std::uint64_t address, Bytes bytes);
  /// cuMemCreate of `bytes` (whole pages), or what a library takes past the allocator: an amount
  /// without an address. Returns false, taking nothing, when that is more than what is free.
  virtual bool take(Bytes bytes);
  /// Requires: bytes <= taken_bytes().
  virtual void give_back(Bytes bytes);

  /// What cudaMemGetInfo says is free: total - context - others - everything taken.
  [[nodiscard]] virtual Bytes free_bytes() const { return free_bytes_; }
  [[nodiscard]] Bytes total_bytes() const { return config_.total_bytes; }
  /// Taken through this object: neither context nor other processes.
  [[nodiscard]] Bytes taken_bytes() const {
    return config_.total_bytes - config_.context_bytes - config_.other_bytes - free_bytes();
  }
  [[nodiscard]] const Config& config() const { return config_; }
  /// Writes what is taken and where.
  void write_state(StateImage& image) const;

 private:
  /// A run of addresses taken from the unused ranges, whole 32 MiB, with its holes by address.
  struct Piece {
    std::uint64_t begin = 0;
    Bytes bytes = 0;
    Bytes largest_hole_bytes = 0;
    std::vector<std::pair<std::uint64_t, Bytes>> holes;
    void measure();
  };
  using Ranges = std::map<std::uint64_t, Bytes>;  ///< begin -> length, no two touching

  std::optional<std::uint64_t> recorded_address(Bytes bytes);
  bool claim(std::uint64_t begin, Bytes bytes);
  void step_aside();
  static void add_range(Ranges& ranges, std::uint64_t begin, Bytes bytes);
  std::uint64_t take_from(std::size_t piece, Bytes bytes);
  std::optional<std::size_t> new_piece(Bytes bytes);

  Config config_;
  Bytes free_bytes_ = 0;
  std::vector<Piece> pieces_;  ///< descending by address, as they come at first
  Bytes most_hole_bytes_ = 0;  ///< no piece has a larger hole
  Ranges unused_;
  Ranges unused_virtual_;
  Recording recording_;
  /// By size: where in recording_.segments to look on.
  std::map<Bytes, std::size_t> next_recorded_;
  std::size_t next_reservation_ = 0;
  Ranges recorded_live_;  ///< given out by the recording; no two overlap, some may touch
  std::vector<std::uint64_t> recorded_begins_;  ///< all addresses of the recording, ascending
  std::size_t unrecorded_ = 0;
  bool follows_ = false;
};

}  // namespace tidemark
