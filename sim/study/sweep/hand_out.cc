#include "sim/study/sweep/hand_out.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "sim/base/problem.h"

namespace tidemark {
namespace {

constexpr off_t kLogLock = 0;     // a byte of the log that who reads and appends has locked
constexpr off_t kFirstSlot = 16;  // the byte of slot 0
constexpr unsigned kMostSlots = 100'000;
constexpr std::uint64_t kRounds =
    4;  // lots that are left are handed out in so many rounds at least

[[noreturn]] void fail(const std::string& path) {
  throw IoError(fmt::format("{}: {}", path, std::generic_category().message(errno)));
}

struct flock byte_lock(bool is_held, off_t byte) {
  struct flock lock = {};
  lock.l_type = is_held ? F_WRLCK : F_UNLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

/// The numbers after a line's first word; empty: the line is none of the log's.
std::vector<std::uint64_t> numbers_of(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  while (!text.empty()) {
    std::uint64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return {};
    numbers.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    if (text.starts_with(' ')) text.remove_prefix(1);
  }
  return numbers;
}

}  // namespace

HandOut::HandOut(const std::string& folder, std::uint64_t lots)
    : path_(folder + "/lots"), lots_(lots) {
  while (!open_log()) {
    close(file_);
    file_ = -1;
  }
  while (slot_ < kMostSlots && !try_slot(slot_)) ++slot_;
  if (slot_ == kMostSlots) throw IoError(fmt::format("{}: too many processes", path_));
  read_on();
  append(fmt::format("slot {}", slot_));
  lock(false);
}

HandOut::~HandOut() {
  if (file_ >= 0) close(file_);
}

bool HandOut::open_log() {
  const std::string folder = path_.substr(0, path_.rfind('/'));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError(fmt::format("{}: {}", folder, error.message()));
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0 && errno == ENOENT) return false;
  if (file_ < 0) fail(path_);
  lock(true);
  struct stat ours = {};
  struct stat there = {};
  return fstat(file_, &ours) == 0 && stat(path_.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

void HandOut::lock(bool is_held) const {
  struct flock lock = byte_lock(is_held, kLogLock);
  while (fcntl(file_, F_OFD_SETLKW, &lock) != 0) {
    if (errno != EINTR) fail(path_);
  }
}

bool HandOut::try_slot(unsigned slot) const {
  struct flock lock = byte_lock(true, kFirstSlot + static_cast<off_t>(slot));
  if (fcntl(file_, F_OFD_SETLK, &lock) == 0) return true;
  if (errno != EAGAIN && errno != EACCES) fail(path_);
  return false;
}

bool HandOut::is_alive(unsigned slot) const {
  struct flock lock = byte_lock(true, kFirstSlot + static_cast<off_t>(slot));
  if (fcntl(file_, F_OFD_GETLK, &lock) != 0) fail(path_);
  return lock.l_type != F_UNLCK;
}

void HandOut::read_on() {
  std::array<char, 65536> part{};
  while (true) {
    const ssize_t count = pread(file_, part.data(), part.size(), static_cast<off_t>(read_));
    if (count < 0) fail(path_);
    if (count == 0) break;
    read_ += static_cast<std::uint64_t>(count);
    rest_.append(part.data(), static_cast<std::size_t>(count));
    std::size_t at = 0;
    for (std::size_t end = 0; (end = rest_.find('\n', at)) != std::string::npos; at = end + 1)
      read_line(rest_.substr(at, end - at));
    rest_.erase(0, at);
  }
}

void HandOut::read_line(const std::string& line) {
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string_view word = std::string_view(line).substr(0, space);
  const std::vector<std::uint64_t> numbers =
      numbers_of(std::string_view(line).substr(std::min(space + 1, line.size())));
  if (word == "slot" && numbers.size() == 1) {
    slots_ = std::max(slots_, numbers[0] + 1);
    for (auto& [first, taken] : taken_) {
      if (taken.owner == numbers[0]) taken.owner.reset();
    }
  } else if (word == "take" && numbers.size() == 3) {
    taken_[numbers[1]] = {numbers[2], static_cast<unsigned>(numbers[0])};
    next_ = std::max(next_, std::min(numbers[2], lots_));
  } else if (word == "done" && numbers.size() == 3) {
    if (taken_.erase(numbers[0]) > 0) cells_done_ += numbers[2];
  }
}

void HandOut::append(const std::string& line) {
  // A process that was killed as it wrote left a line without an end.
  const std::string text = (rest_.empty() ? "" : "\n") + line + "\n";
  if (write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) fail(path_);
  read_on();
}

void HandOut::alone(const std::function<void()>& work) {
  lock(true);
  try {
    work();
  } catch (...) {
    lock(false);
    throw;
  }
  lock(false);
}

LotRange HandOut::take(const LotRange& lots) {
  append(fmt::format("take {} {} {}", slot_, lots.first, lots.end));
  return lots;
}

std::optional<LotRange> HandOut::take(std::uint64_t most) {
  std::optional<LotRange> lots;
  alone([&] {
    read_on();
    if (next_ < lots_) {
      const std::uint64_t count =
          std::clamp((lots_ - next_) / (kRounds * slots_), std::uint64_t{1}, most);
      lots = take(LotRange{next_, next_ + count});
      return;
    }
    for (const auto& [first, taken] : taken_) {
      if (taken.owner && is_alive(*taken.owner)) continue;
      lots = take(LotRange{first, taken.end});
      return;
    }
  });
  return lots;
}

void HandOut::done(const LotRange& lots, std::uint64_t cells) {
  alone([&] {
    read_on();
    append(fmt::format("done {} {} {}", lots.first, lots.end, cells));
  });
}

}  // namespace tidemark
