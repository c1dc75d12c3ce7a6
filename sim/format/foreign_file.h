#pragma once

#include <string>
#include <string_view>

namespace tidemark {

/// What a file seems to be by its first bytes, for a message on one that is no recording: "a zip
/// archive, as torch.save() writes them", "text". Never empty; printable.
std::string foreign_file(std::string_view begin);

/// Whether these bytes are text that can be shown: UTF-8 without control characters.
bool is_printable(std::string_view bytes);

}  // namespace tidemark
