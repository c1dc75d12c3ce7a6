#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::torch {

class Session;

/// What ranks of a job send each other that the host knows: objects, by the exchange in which they
/// are sent. Ranks are run one after another; each finds what others sent in their runs. Threads
/// may share it.
class Messages {
 public:
  /// What the rank sends in the exchange `key`; a later run's is newer.
  void put(const std::string& key, int rank, std::string text);
  /// std::nullopt: no run of the rank has sent it.
  [[nodiscard]] std::optional<std::string> find(const std::string& key, int rank) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::string> texts_;
};

/// The messages as one run uses them.
struct Mailbox {
  Messages& messages;
  /// What it looked for and did not find: exchanges and the ranks that send in them.
  std::vector<std::pair<std::string, int>> missing = {};
};

/// Adds the module torch.distributed._messages: put_message(key, text), and take_message(key,
/// sender), which gives None where the message is not there. Null: nothing is ever there. Requires:
/// `mailbox` lives as long as the session.
void add_messages(Session& session, Mailbox* mailbox);

}  // namespace tidemark::torch
