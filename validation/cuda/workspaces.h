#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace harness {

/// Memory that a library is handed to work in; null: none.
struct Workspace {
  void* place = nullptr;
  std::uint64_t bytes = 0;
};

/// What PyTorch's allocator has for cuBLAS and cuBLASLt: kept for each stream, or asked for and
/// handed back by each product (docs/rules/products.md#4). Either way it is the stream's until
/// what follows is queued.
class Workspaces {
 public:
  void took(std::uint64_t id, int stream, Workspace workspace) {
    kept_[stream].push_back({id, workspace});
  }
  /// `is_there`: its memory still is the allocator's.
  void dropped(std::uint64_t id, int stream, bool is_there) {
    std::vector<Kept>& all = kept_[stream];
    for (auto at = all.begin(); at != all.end(); ++at) {
      if (at->id != id) continue;
      if (is_there) of_call_[stream] = at->workspace;
      all.erase(at);
      return;
    }
  }
  /// For the product that is queued now. Of what is kept the first is cuBLAS's, one of another size
  /// cuBLASLt's, which shares cuBLAS's where it has none.
  Workspace next(int stream, bool by_lt) {
    if (const auto at = of_call_.find(stream); at != of_call_.end()) {
      const Workspace found = at->second;
      of_call_.erase(at);
      return found;
    }
    const std::vector<Kept>& all = kept_[stream];
    if (all.empty()) return {};
    for (const Kept& each : all) {
      if (by_lt && each.workspace.bytes != all.front().workspace.bytes) return each.workspace;
    }
    return all.front().workspace;
  }

 private:
  struct Kept {
    std::uint64_t id;
    Workspace workspace;
  };
  std::map<int, std::vector<Kept>> kept_;
  std::map<int, Workspace> of_call_;
};

}  // namespace harness
