#include "sim/run/job_partners.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "sim/base/hash.h"

namespace tidemark {

namespace {

std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

/// On how many of the ranks two peers are the same rank; what they are on others does not count.
std::size_t alike_on(const std::vector<int>& ranks, const NumberByRank& a, const NumberByRank& b) {
  return static_cast<std::size_t>(
      std::ranges::count_if(ranks, [&](int rank) { return a.at(rank) == b.at(rank); }));
}

}  // namespace

JobPartners::JobPartners(const Rank& job, std::vector<Kind> kinds)
    : job_(job), kinds_(std::move(kinds)) {
  if (!assign_kinds()) return;
  if (!find_channels() || !find_meetings()) return;
  refine();
  build_classes();
}

bool JobPartners::assign_kinds() {
  kind_of_.assign(index(job_.world), kNone);
  for (std::uint32_t kind = 0; kind < kinds_.size(); ++kind) {
    for (const int rank : *kinds_[kind].ranks)
      if (kind_of_[index(rank)] == kNone) kind_of_[index(rank)] = kind;
  }
  const auto bare = std::ranges::find(kind_of_, kNone);
  if (bare == kind_of_.end()) return true;
  missing_ = fmt::format("rank {} was not run", bare - kind_of_.begin());
  return false;
}

bool JobPartners::find_channels() {
  for (const Kind& kind : kinds_) {
    const std::vector<NumberByRank>& peers = kind.traffic->peers;
    std::vector<Channel>& channels = channels_.emplace_back();
    std::vector<std::uint32_t>& of = channel_of_.emplace_back();
    for (const Transfer& transfer : kind.traffic->transfers) {
      Channel channel{transfer.group, 0, TransferKind::kCollective};
      if (is_of_two(transfer.kind)) channel = {transfer.group, transfer.peer, transfer.kind};
      auto found = std::ranges::find(channels, channel);
      // A peer that is said otherwise, and is the same.
      for (auto each = channels.begin(); each != channels.end() && found == channels.end();
           ++each) {
        if (!is_of_two(channel.kind) || each->kind != channel.kind || each->group != channel.group)
          continue;
        const std::size_t alike = alike_on(*kind.ranks, peers[each->peer], peers[channel.peer]);
        if (alike == kind.ranks->size()) {
          found = each;
        } else if (alike > 0) {
          missing_ = "ranks that do the same send to peers that are one for some of them alone";
          return false;
        }
      }
      of.push_back(static_cast<std::uint32_t>(found - channels.begin()));
      if (found == channels.end()) channels.push_back(channel);
    }
  }
  return true;
}

bool JobPartners::find_meetings() {
  std::uint64_t work = 0;
  for (const Kind& kind : kinds_) {
    for (const RankGroup& group : kind.traffic->groups) {
      if (!group.is_known) {
        missing_ = "which ranks a group has hangs on the rank in a way that is not followed";
        return false;
      }
      if (!group.is_world) work += kind.ranks->size() * group.ranks.size();
    }
  }
  if (work > kMostPlaces) {
    missing_ = fmt::format("the groups of {} ranks are too many", job_.world);
    return false;
  }
  // Ranks in order, and how many groups of the same ranks each had made before.
  std::map<std::pair<std::vector<int>, std::uint32_t>, std::uint32_t> known;
  std::vector<int> all(index(job_.world));
  std::iota(all.begin(), all.end(), 0);
  places_.resize(index(job_.world));
  for (int rank = 0; rank < job_.world; ++rank) {
    const std::vector<RankGroup>& groups = kinds_[kind_of(rank)].traffic->groups;
    std::vector<std::uint32_t> in_order(groups.size());
    std::iota(in_order.begin(), in_order.end(), 0U);
    std::ranges::stable_sort(in_order, {}, [&](std::uint32_t g) { return groups[g].order; });
    std::map<std::vector<int>, std::uint32_t> before;
    places_[index(rank)].resize(groups.size());
    for (const std::uint32_t g : in_order) {
      std::vector<int> ranks;
      for (const NumberByRank& each : groups[g].ranks) ranks.push_back(each.at(rank));
      const std::uint32_t number = before[ranks]++;
      const auto [place, is_new] =
          known.try_emplace(std::pair(ranks, number), static_cast<std::uint32_t>(meetings_.size()));
      if (is_new) {
        Meeting& made = meetings_.emplace_back();
        made.ranks = groups[g].is_world ? all : std::move(ranks);
        made.group.assign(made.ranks.size(), kNone);
      }
      Meeting& meeting = meetings_[place->second];
      const auto own = std::ranges::find(meeting.ranks, rank);
      if (own == meeting.ranks.end()) {
        missing_ = fmt::format("rank {} is in none of its groups' places", rank);
        return false;
      }
      const auto at = static_cast<std::uint32_t>(own - meeting.ranks.begin());
      meeting.group[at] = g;
      places_[index(rank)][g] = {place->second, at};
    }
  }
  return true;
}

std::uint32_t JobPartners::channel(int rank, const Channel& wanted) const {
  const std::vector<Channel>& channels = channels_[kind_of(rank)];
  const auto found = std::ranges::find(channels, wanted);
  return found == channels.end() ? kNone : static_cast<std::uint32_t>(found - channels.begin());
}

std::pair<int, std::uint32_t> JobPartners::peer_of(int rank, const Channel& channel) const {
  const Place& own = place(rank, channel.group);
  const Meeting& meeting = meetings_[own.meeting];
  const int peer = kinds_[kind_of(rank)].traffic->peers[channel.peer].at(rank);
  if (peer < 0 || index(peer) >= meeting.ranks.size()) return {-1, kNone};
  const int other = meeting.ranks[index(peer)];
  const std::uint32_t group = meeting.group[index(peer)];
  if (group == kNone) return {other, kNone};
  const TransferKind back =
      channel.kind == TransferKind::kSend ? TransferKind::kReceive : TransferKind::kSend;
  const std::vector<Channel>& channels = channels_[kind_of(other)];
  const std::vector<NumberByRank>& peers = kinds_[kind_of(other)].traffic->peers;
  for (std::uint32_t i = 0; i < channels.size(); ++i) {
    if (channels[i].group == group && channels[i].kind == back &&
        peers[channels[i].peer].at(other) == static_cast<int>(own.at))
      return {other, i};
  }
  return {other, kNone};
}

void JobPartners::refine() {
  class_of_ = kind_of_;
  std::size_t count = kinds_.size();
  while (true) {
    std::vector<std::uint64_t> of_meeting(meetings_.size());
    for (std::size_t m = 0; m < meetings_.size(); ++m) {
      std::vector<std::uint64_t> seen;
      for (std::size_t i = 0; i < meetings_[m].ranks.size(); ++i)
        seen.push_back(std::uint64_t{class_of_[index(meetings_[m].ranks[i])]} << 32U |
                       meetings_[m].group[i]);
      std::ranges::sort(seen);
      seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
      of_meeting[m] = kEmptyHash;
      for (const std::uint64_t each : seen) of_meeting[m] = hash_number(of_meeting[m], each);
    }
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> numbers;
    std::vector<std::uint32_t> next(class_of_.size());
    for (int rank = 0; rank < job_.world; ++rank) {
      std::uint64_t hash = kEmptyHash;
      for (const Channel& channel : channels_[kind_of(rank)]) {
        if (channel.kind == TransferKind::kCollective) {
          hash = hash_number(hash, of_meeting[place(rank, channel.group).meeting]);
        } else {
          const auto [peer, at] = peer_of(rank, channel);
          hash = hash_number(hash, peer < 0 ? kNone : class_of_[index(peer)]);
          hash = hash_number(hash, at);
          // Over a network or not.
          hash = hash_number(hash, peer >= 0 && peer / job_.per_node == rank / job_.per_node);
        }
      }
      const auto number = static_cast<std::uint32_t>(numbers.size());
      next[index(rank)] =
          numbers.try_emplace(std::pair(class_of_[index(rank)], hash), number).first->second;
    }
    class_of_ = std::move(next);
    if (numbers.size() == count) return;
    count = numbers.size();
  }
}

void JobPartners::build_classes() {
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  for (int rank = 0; rank < job_.world; ++rank) {
    std::uint32_t& own = class_of_[index(rank)];
    const auto [at, is_new] = numbers.try_emplace(own, static_cast<std::uint32_t>(classes_.size()));
    if (is_new) classes_.emplace_back().kind = kind_of(rank);
    own = at->second;
    classes_[own].ranks.push_back(rank);
  }
  for (Class& made : classes_) {
    const int first = made.ranks.front();
    for (const Channel& channel : channels_[made.kind]) {
      std::vector<Partner>& partners = made.partners.emplace_back();
      std::vector<int>& members = made.members.emplace_back();
      int& absent = made.absent.emplace_back(-1);
      if (channel.kind != TransferKind::kCollective) {
        const auto [peer, at] = peer_of(first, channel);
        if (peer >= 0) members.push_back(peer);
        if (at == kNone) {
          absent = std::max(peer, 0);
        } else {
          partners.push_back({class_of_[index(peer)], at});
        }
        continue;
      }
      const Meeting& meeting = meetings_[place(first, channel.group).meeting];
      members = meeting.ranks;
      for (std::size_t i = 0; i < meeting.ranks.size(); ++i) {
        const int rank = meeting.ranks[i];
        const std::uint32_t at =
            meeting.group[i] == kNone
                ? kNone
                : this->channel(rank, {meeting.group[i], 0, TransferKind::kCollective});
        if (at == kNone && absent < 0) absent = rank;
        if (at != kNone) partners.push_back({class_of_[index(rank)], at});
      }
      std::ranges::sort(partners);
      partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
    }
  }
}

}  // namespace tidemark
