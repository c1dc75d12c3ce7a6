#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace tidemark::cli {

/// Where a command writes: standard output, standard error, or a string in a test.
class Output {
 public:
  virtual ~Output() = default;
  virtual void write(std::string_view text) = 0;
  /// Errors: IoError, for what the C library still held back.
  virtual void flush() {}
  /// $COLUMNS, else the columns of the terminal behind it; 80 where there is none.
  [[nodiscard]] virtual int width() const { return 80; }
  /// True: a terminal that wants colour (no pipe, no NO_COLOR, not TERM=dumb).
  [[nodiscard]] virtual bool colour() const { return false; }

  /// Someone watches: lines may be written over.
  [[nodiscard]] virtual bool is_terminal() const { return false; }

  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    write(fmt::format(format, std::forward<Args>(args)...));
  }
};

class StringOutput final : public Output {
 public:
  void write(std::string_view text) override { text_ += text; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Standard output or standard error.
class StreamOutput final : public Output {
 public:
  /// Requires: `stream` is open and stays so. `name` is for messages ("standard output").
  StreamOutput(std::FILE* stream, std::string_view name);
  /// A terminal gets text that does nothing to it but our own styles: see for_terminal().
  /// Errors: IoError (a full disk, for example). A reader that went away (EPIPE) is one too.
  void write(std::string_view text) override;
  void flush() override;
  [[nodiscard]] int width() const override { return width_; }
  [[nodiscard]] bool colour() const override { return colour_; }
  [[nodiscard]] bool is_terminal() const override { return is_terminal_; }

 private:
  [[noreturn]] void fail() const;
  std::FILE* stream_;
  std::string_view name_;
  int width_ = 80;
  bool colour_ = false;
  bool is_terminal_ = false;
};

}  // namespace tidemark::cli
