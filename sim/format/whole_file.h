#pragma once

#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tidemark {

/// The most bytes of a file that is read whole, and of one that is YAML: what yaml-cpp keeps of a
/// text is up to ten times as large.
inline constexpr std::size_t kMostOfFile = std::size_t{1} << 30U;
inline constexpr std::size_t kMostOfYaml = std::size_t{64} << 20U;

/// A file's contents in memory, unzipped where they are gzip; "-" is standard input. No more than
/// twice `most` bytes are held while it is read.
/// Errors: IoError; InputError when gzip data are damaged, or there are more than `most` bytes.
std::string read_whole_file(const std::string& path, std::size_t most = kMostOfFile);

/// Writes a file, gzipped where the name ends in ".gz" (the same bytes every time: no time stamp
/// inside). It appears complete or not at all: written beside its place, then renamed. What is no
/// regular file (/dev/stdout, a pipe) is written directly. An interrupt (Ctrl-C) waits until the
/// file is in its place. Errors: IoError.
void write_whole_file(const std::string& path, std::string_view contents);

/// Writes a file in parts, as write_whole_file() does at once: the same bytes, complete or not at
/// all. Until finish() it has no name (or, where the file system cannot do that, the name ends in
/// ".part" and it is removed when this ends). Errors of every call: IoError.
class FileWriter {
 public:
  explicit FileWriter(std::string path);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();

  void append(std::string_view contents);
  /// Puts the file in its place. Requires: nothing is called after it.
  void finish();

 private:
  class Packer;
  friend std::string gzipped(std::string_view contents);
  void write(std::string_view contents);
  std::string path_;
  std::string part_;  ///< the name until finish(); empty: none
  int file_ = -1;
  bool direct_ = false;  ///< no regular file
  std::unique_ptr<Packer> packer_;
};

/// While one lives, SIGINT, SIGTERM and SIGHUP to this thread wait: what must be done as a whole is
/// done as a whole. They may be nested. Requires: no other thread is running.
class SignalsHeld {
 public:
  SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld();

 private:
  sigset_t before_;
};

/// Whether `path` is a regular file, or nothing yet.
bool is_regular_or_new(const std::string& path);

/// `contents` as a gzip file.
std::string gzipped(std::string_view contents);

}  // namespace tidemark
