#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// What a page begins with: up to its heading, with the style of page/page.css in it.
std::string page_head(std::string_view title);
/// Text that stands in HTML.
std::string html_text(std::string_view text);
/// A list of sentences; empty: nothing.
std::string html_list(const std::vector<std::string>& sentences);
/// The element that a page's script reads its data from: nothing in the JSON ends it.
std::string data_element(std::string json);
/// Bytes as text.
std::string base64(std::string_view bytes);

}  // namespace tidemark
