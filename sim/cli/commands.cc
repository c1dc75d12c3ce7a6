#include "sim/cli/commands.h"

#include "sim/cli/program.h"

namespace tidemark::cli {

const std::vector<std::unique_ptr<Command>>& commands() {
  static const std::vector<std::unique_ptr<Command>> kCommands = [] {
    std::vector<std::unique_ptr<Command>> list;
    list.push_back(make_init_command());
    list.push_back(make_run_command());
    list.push_back(make_fit_command());
    list.push_back(make_advise_command());
    list.push_back(make_tune_command());
    list.push_back(make_sweep_command());
    list.push_back(make_results_command());
    list.push_back(make_check_command());
    list.push_back(make_describe_command());
    list.push_back(make_graph_command());
    list.push_back(make_import_command());
    list.push_back(make_models_command());
    list.push_back(make_devices_command());
    list.push_back(make_optimizers_command());
    list.push_back(make_ops_command());
    list.push_back(make_schema_command());
    list.push_back(make_replay_command());
    list.push_back(make_explain_command());
    list.push_back(make_report_command());
    list.push_back(make_diff_command());
    list.push_back(make_validate_command());
    list.push_back(make_record_command());
    list.push_back(make_plan_command());
    list.push_back(make_calibrate_command());
    list.push_back(make_completion_command());
    list.push_back(make_man_command());
    list.push_back(make_help_command());
    return list;
  }();
  return kCommands;
}

}  // namespace tidemark::cli
