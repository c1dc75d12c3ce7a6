#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/lang/runtime/interp.h"

/// What a run rests on besides unknown values: chance that was given a fixed seed, a data set whose
/// files were not read, a compiler that was left out.
namespace tidemark::lang {

class Alike;

struct Note {
  SourceSpan at;            ///< in the user's own code where that is on the stack
  std::string text;         ///< one sentence without its full stop
  std::uint64_t times = 0;  ///< how often it was noted
};

/// `times` of each.
template <class Counted>
std::vector<std::uint64_t> counts_of(const std::vector<Counted>& all) {
  std::vector<std::uint64_t> counts;
  counts.reserve(all.size());
  for (const Counted& each : all) counts.push_back(each.times);
  return counts;
}
/// Adds `times` times what was counted since `then`, when there were no more than now.
template <class Counted>
void count_left_out(std::vector<Counted>& all, const std::vector<std::uint64_t>& then,
                    std::uint64_t times) {
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].times += times * (all[i].times - (i < then.size() ? then[i] : 0));
}

/// Keeps account of what is noted; a text at a place is one note.
class Notes {
 public:
  Notes() = default;
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;
  virtual ~Notes() = default;
  void add(SourceSpan at, std::string text);
  /// The same, of something that decided though it is not known.
  void guess(SourceSpan at, std::string text) {
    has_guessed_ = true;
    add(std::move(at), std::move(text));
  }
  [[nodiscard]] bool has_guessed() const { return has_guessed_; }
  /// What chance decides takes its latest end, in place of its earliest.
  void take_late_ends() { takes_late_ends_ = true; }
  [[nodiscard]] bool takes_late_ends() const { return takes_late_ends_; }
  /// In the order in which they were first made.
  [[nodiscard]] const std::vector<Note>& all() const { return notes_; }
  /// How often each was noted.
  [[nodiscard]] std::vector<std::uint64_t> counts() const { return counts_of(notes_); }
  /// What was noted since `then` is taken for noted so many times more.
  void leave_out(const std::vector<std::uint64_t>& then, std::uint64_t times) {
    count_left_out(notes_, then, times);
  }

  /// Keeps account of which ranks do the same; null: nobody asks.
  [[nodiscard]] Alike* alike() const { return alike_; }
  void tell(Alike* alike) { alike_ = alike; }

  /// A bound was taken for a size in this call. The frame is only compared, and may be gone.
  void assume_size_in(const Frame* frame);
  [[nodiscard]] bool assumed_size_in(const Frame& frame) const;

 private:
  std::vector<Note> notes_;
  bool has_guessed_ = false;
  bool takes_late_ends_ = false;
  const Frame* frame_ = nullptr;
  const void* code_ = nullptr;
  Alike* alike_ = nullptr;
};

/// The innermost frame of the user's own code; null: none.
const Frame* users_frame(const Interp& interp);
/// Where the user's own code is, under what the library runs for it; no source: nowhere.
SourceSpan users_place(const Interp& interp);
/// Whether the user's own code asks Python's library for what it is about to do: neither an
/// installed package nor torch does.
bool is_asked_by_user(const Interp& interp);
/// Tells the interpreter's notes, where it has any, what the run rests on at the user's place.
void note(const Interp& interp, std::string text);
/// The same, of something that decided though it is not known.
void guess(const Interp& interp, std::string text);
/// How notes begin of what PyTorch itself leaves to chance: the run has one end of it.
inline constexpr std::string_view kLeftToChance = "left to chance: ";
/// Whether what chance decides takes its latest end in this run.
bool takes_late_ends(const Interp& interp);

}  // namespace tidemark::lang
