#include <csignal>

#include "sim/cli/program.h"

int main(int argc, char** argv) {
  namespace cli = tidemark::cli;
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is a failed write, with a message
  cli::StreamOutput out(stdout, "standard output");
  cli::StreamOutput err(stderr, "standard error");
  const cli::ExitCode code =
      cli::run_program(std::vector<std::string>(argv + 1, argv + argc), out, err);
  return static_cast<int>(code);
}
