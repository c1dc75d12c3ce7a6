#pragma once

#include <array>
#include <csignal>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::cli {

/// Where a folder that comes with the program may be: installed (share/tidemark/FOLDER), or in the
/// source tree.
std::vector<std::string> own_folders(std::string_view folder, std::string_view source_folder);

/// A file of a folder that lies beside the program: in $VARIABLE, where the program was installed
/// (share/tidemark/FOLDER), or in the source tree. `option` is for messages. Errors: IoError.
std::string script_path(std::string_view option, const char* variable, std::string_view folder,
                        std::string_view source_folder, std::string_view script);

/// $TIDEMARK_PYTHON, else /usr/bin/python3, else the first python3 of the path.
std::string python();

/// A file in the folder for temporary ones that goes away.
class TemporaryFile {
 public:
  /// Errors: IoError.
  explicit TemporaryFile(std::string_view contents);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// While one lives, a first Ctrl-C or SIGTERM is noted, for the command to end where that does no
/// harm; a second one ends the process. One at a time.
class InterruptsNoted {
 public:
  InterruptsNoted();
  InterruptsNoted(const InterruptsNoted&) = delete;
  InterruptsNoted& operator=(const InterruptsNoted&) = delete;
  ~InterruptsNoted();

  /// The one that came; 0: none.
  [[nodiscard]] static int signal();

 private:
  static constexpr std::array<int, 2> kNoted{SIGINT, SIGTERM};
  std::array<struct sigaction, kNoted.size()> before_{};
};

/// The same for a folder, with all that comes to lie in it.
class TemporaryFolder {
 public:
  /// Errors: IoError.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Runs a program with our standard output and error, interrupts included even where ours are held.
/// `variables` are set in its environment, those of empty text taken out. Returns its exit code;
/// 127 when it does not start, 128 and more when a signal ended it.
int run_process(std::vector<std::string> words,
                const std::map<std::string, std::string>& variables = {});

/// Goes on in a child, where it returns std::nullopt. Here it waits for the child and returns its
/// exit code; when a signal ends the child (no memory left, for one), `again` is told, and another
/// child goes on, three at most. The child dies with us. Requires: one thread. Errors: IoError.
std::optional<int> in_kept_child(const std::function<void(int signal)>& again);

/// Which of a parallel job's processes this is, as Open MPI's and MPICH's launchers tell.
struct Rank {
  int rank = 0;
  int ranks = 1;
};
Rank rank_in_job();

}  // namespace tidemark::cli
