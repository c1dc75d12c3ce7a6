#pragma once

#include <memory>

#include "sim/cli/command.h"

namespace tidemark::cli {

// One maker a command, each in <name>_command.cc; commands.cc lists them.
std::unique_ptr<Command> make_advise_command();
std::unique_ptr<Command> make_calibrate_command();
std::unique_ptr<Command> make_check_command();
std::unique_ptr<Command> make_completion_command();
std::unique_ptr<Command> make_describe_command();
std::unique_ptr<Command> make_devices_command();
std::unique_ptr<Command> make_diff_command();
std::unique_ptr<Command> make_explain_command();
std::unique_ptr<Command> make_fit_command();
std::unique_ptr<Command> make_graph_command();
std::unique_ptr<Command> make_help_command();
std::unique_ptr<Command> make_init_command();
std::unique_ptr<Command> make_man_command();
std::unique_ptr<Command> make_ops_command();
std::unique_ptr<Command> make_optimizers_command();
std::unique_ptr<Command> make_plan_command();
std::unique_ptr<Command> make_record_command();
std::unique_ptr<Command> make_import_command();
std::unique_ptr<Command> make_models_command();
std::unique_ptr<Command> make_replay_command();
std::unique_ptr<Command> make_report_command();
std::unique_ptr<Command> make_results_command();
std::unique_ptr<Command> make_run_command();
std::unique_ptr<Command> make_schema_command();
std::unique_ptr<Command> make_sweep_command();
std::unique_ptr<Command> make_tune_command();
std::unique_ptr<Command> make_validate_command();

}  // namespace tidemark::cli
