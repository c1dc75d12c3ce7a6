#pragma once

#include <string>
#include <string_view>

namespace tidemark::cli {

/// Refuses a picture's name whose ending is none of .png, .svg and .pdf. Errors: InputError.
void check_plot_name(const std::string& path);

/// Draws a timeline (JSON, as timeline_json writes it) with plots/timeline.py, in a process of its
/// own. `host_json`: as host_timeline_json writes it, for a panel of its own below; empty: none.
/// The script is looked for in $TIDEMARK_PLOTS, where the program was installed, and in the source
/// tree that it was built from; Python is $TIDEMARK_PYTHON, else /usr/bin/python3, else the first
/// python3 of the path. Errors: IoError when the script, Python or matplotlib is missing, or the
/// picture cannot be written.
void draw_timeline(std::string_view timeline_json, std::string_view host_json,
                   const std::string& title, const std::string& path);

/// Writes results_columns_json() as Parquet with plots/to_parquet.py. Errors: as above, for
/// pyarrow.
void write_parquet(std::string_view columns_json, const std::string& path);

}  // namespace tidemark::cli
