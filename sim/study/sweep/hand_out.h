#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "sim/study/sweep/sweep.h"

namespace tidemark {

/// Who runs which lots of a sweep that several processes share: a log in a folder that all of them
/// see, on one machine or over a network file system with file locks. A process holds a lock for as
/// long as it lives; the lots of one whose lock is gone are handed out again. So none waits for
/// another's word, any may be killed at any moment, and others may join at any time.
///
/// The file `lots` has a line for each step: "slot S" (a process begins as S), "take S FIRST END",
/// "done FIRST END CELLS". One process at a time appends to it, under another lock.
class HandOut {
 public:
  /// Joins in, with the first slot that no living process has. Makes the folder where it is not
  /// there. Errors: IoError.
  HandOut(const std::string& folder, std::uint64_t lots);
  HandOut(const HandOut&) = delete;
  HandOut& operator=(const HandOut&) = delete;
  ~HandOut();

  [[nodiscard]] unsigned slot() const { return slot_; }

  /// Runs `work` while no other process does so or takes lots. Errors: those of `work`; IoError.
  void alone(const std::function<void()>& work);

  /// Lots that nobody else has, at most `most`: fewer towards the end; then those that dead
  /// processes left. std::nullopt: there are none now, or is_over(). Requires: those taken before
  /// are done. Errors: IoError.
  std::optional<LotRange> take(std::uint64_t most);
  /// Requires: they were taken here, and their rows are kept.
  void done(const LotRange& lots, std::uint64_t cells);
  /// As of the last take(): every lot is done.
  [[nodiscard]] bool is_over() const { return next_ == lots_ && taken_.empty(); }
  /// As of the last take(): cells of the lots that are done, by all processes.
  [[nodiscard]] std::uint64_t cells_done() const { return cells_done_; }

 private:
  struct Taken {
    std::uint64_t end = 0;
    std::optional<unsigned> owner;  ///< none: its process began anew
  };

  /// False: the folder was taken away meanwhile.
  bool open_log();
  void lock(bool is_held) const;
  bool try_slot(unsigned slot) const;
  [[nodiscard]] bool is_alive(unsigned slot) const;
  void read_on();
  void read_line(const std::string& line);
  void append(const std::string& line);
  LotRange take(const LotRange& lots);

  std::string path_;
  std::uint64_t lots_;
  int file_ = -1;
  unsigned slot_ = 0;
  std::uint64_t read_ = 0;  ///< bytes of the log
  std::string rest_;        ///< of a line that has no end
  std::uint64_t next_ = 0;  ///< the first lot that nobody ever took
  std::uint64_t slots_ = 0;
  std::uint64_t cells_done_ = 0;
  std::map<std::uint64_t, Taken> taken_;  ///< by first lot: not done
};

}  // namespace tidemark
