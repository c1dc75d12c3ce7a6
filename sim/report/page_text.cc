#include "sim/report/page_text.h"

#include <cstdint>

#include <fmt/format.h>

#include "sim/report/page_files.h"

namespace tidemark {

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') out += "&amp;";
    if (c == '<') out += "&lt;";
    if (c != '&' && c != '<') out += c;
  }
  return out;
}

std::string html_list(const std::vector<std::string>& sentences) {
  if (sentences.empty()) return {};
  std::string out = "<ul>\n";
  for (const std::string& each : sentences) out += "<li>" + html_text(each) + "</li>\n";
  return out + "</ul>\n";
}

std::string page_head(std::string_view title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>\n{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
      html_text(title), kPageStyle);
}

std::string data_element(std::string json) {
  for (std::size_t at = json.find("</"); at != std::string::npos; at = json.find("</", at + 3))
    json.replace(at, 2, "<\\/");
  for (std::size_t at = json.find("<!--"); at != std::string::npos; at = json.find("<!--", at + 6))
    json.replace(at, 1, "\\u003c");
  return "<script type=\"application/json\" id=\"data\">\n" + json + "</script>\n";
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k <= bytes.size() ? kDigits[three >> (18U - 6U * k) & 63U] : '=';
  }
  return out;
}

}  // namespace tidemark
