#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/rank.h"
#include "sim/program/traffic.h"

namespace tidemark {

/// Who takes part in which transfers, of ranks that were run by kinds: those of a kind do the same,
/// each with peers of its own.
///
/// A channel is what a rank's transfers of one sort go through: a group's collectives; what it
/// sends to a peer of a group; what it receives from one. The nth transfer of a channel meets the
/// nth of its partners. A class is of ranks whose channels lead to the same classes: they have the
/// same times, too.
class JobPartners {
 public:
  /// Of one kind.
  struct Kind {
    const std::vector<int>* ranks = nullptr;
    const Traffic* traffic = nullptr;
  };
  struct Partner {
    std::uint32_t of_class = 0;
    std::uint32_t channel = 0;
    friend auto operator<=>(const Partner&, const Partner&) = default;
  };
  struct Channel {
    std::uint32_t group = 0;
    std::uint32_t peer = 0;                         ///< of two: index into Traffic::peers
    TransferKind kind = TransferKind::kCollective;  ///< or kSend, kReceive
    friend bool operator==(const Channel&, const Channel&) = default;
  };
  struct Class {
    std::uint32_t kind = 0;
    std::vector<int> ranks;  ///< ascending
    /// By channel, who takes part; itself among them in collectives.
    std::vector<std::vector<Partner>> partners;
    /// By channel, the first rank's: a rank that should take part and has no such channel; -1:
    /// none.
    std::vector<int> absent;
    /// By channel, the ranks of the group, of two the peer's alone; of the first rank.
    std::vector<std::vector<int>> members;
  };

  JobPartners(const Rank& job, std::vector<Kind> kinds);
  /// Why nothing can be said; empty: it can.
  [[nodiscard]] const std::string& missing() const { return missing_; }
  [[nodiscard]] const std::vector<Class>& classes() const { return classes_; }
  /// The channel of a transfer of a kind.
  [[nodiscard]] std::uint32_t channel_of(std::uint32_t kind, std::uint32_t transfer) const {
    return channel_of_[kind][transfer];
  }
  [[nodiscard]] const std::vector<Channel>& channels(std::uint32_t kind) const {
    return channels_[kind];
  }

 private:
  /// Ranks that are a group of each other's.
  struct Meeting {
    std::vector<int> ranks;            ///< in order
    std::vector<std::uint32_t> group;  ///< of each, its index in its kind's groups; kNone
  };
  struct Place {
    std::uint32_t meeting = 0;
    std::uint32_t at = 0;  ///< in Meeting::ranks
  };
  static constexpr std::uint32_t kNone = 0xffffffffU;
  static constexpr std::uint64_t kMostPlaces = 40'000'000;

  bool assign_kinds();
  bool find_channels();
  bool find_meetings();
  void refine();
  void build_classes();
  [[nodiscard]] std::uint32_t channel(int rank, const Channel& wanted) const;
  /// Of a rank's channel to one peer: the peer and its channel; kNone: it has none.
  [[nodiscard]] std::pair<int, std::uint32_t> peer_of(int rank, const Channel& channel) const;
  [[nodiscard]] const Place& place(int rank, std::uint32_t group) const {
    return places_[static_cast<std::size_t>(rank)][group];
  }
  [[nodiscard]] std::uint32_t kind_of(int rank) const {
    return kind_of_[static_cast<std::size_t>(rank)];
  }

  Rank job_;
  std::vector<Kind> kinds_;
  std::string missing_;
  std::vector<std::uint32_t> kind_of_;  ///< by rank
  std::vector<std::vector<Channel>> channels_;
  std::vector<std::vector<std::uint32_t>> channel_of_;
  std::vector<Meeting> meetings_;
  std::vector<std::vector<Place>> places_;  ///< by rank and group of its kind
  std::vector<std::uint32_t> class_of_;
  std::vector<Class> classes_;
};

}  // namespace tidemark
