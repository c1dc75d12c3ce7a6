#include "sim/cli/program.h"

int main(int argc, char** argv) {
  namespace cli = tidemark::cli;
  cli::StreamOutput out(stdout, "standard output");
  cli::StreamOutput err(stderr, "standard error");
  const cli::ExitCode code =
      cli::run_program(std::vector<std::string>(argv + 1, argv + argc), out, err);
  return static_cast<int>(code);
}
