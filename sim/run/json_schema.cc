#include "sim/run/json_schema.h"

#include "sim/format/json_writer.h"

namespace tidemark {
namespace {

/// As parse_bytes() reads them.
constexpr std::string_view kAmount = "^[0-9._]+ *([KMGT]iB|[kKMGT]?B)?$";

class Writer {
 public:
  explicit Writer(std::string& out) : json_(out) {}

  void document(const yaml::Map& map, std::string_view title) {
    json_.begin_object();
    json_.member("$schema", "http://json-schema.org/draft-07/schema#");
    json_.member("title", title);
    object(map, false);
    json_.end_object();
    json_.finish();
  }

 private:
  /// The members of a schema for a map with the keys of a table.
  void object(const yaml::Map& map, bool may_be_null) {
    types({"object"}, may_be_null);
    json_.key("properties").begin_object();
    for (const yaml::Field& field : map.fields) {
      json_.key(field.key).begin_object();
      json_.member("description", field.about);
      value(field.form, !field.required);
      json_.end_object();
    }
    json_.end_object();
    bool has_required = false;
    for (const yaml::Field& field : map.fields) {
      if (!field.required) continue;
      if (!has_required) json_.key("required").begin_array(true);
      has_required = true;
      json_.value(field.key);
    }
    if (has_required) json_.end_array();
    json_.member("additionalProperties", false);
  }

  void types(std::initializer_list<std::string_view> names, bool may_be_null) {
    json_.key("type");
    if (names.size() == 1 && !may_be_null) {
      json_.value(*names.begin());
      return;
    }
    json_.begin_array(true);
    for (const std::string_view name : names) json_.value(name);
    if (may_be_null) json_.value("null");
    json_.end_array();
  }

  /// The members of a schema for a value of any of the forms that `form` begins.
  void value(const yaml::Form& form, bool may_be_null) {
    if (form.otherwise == nullptr) return one(form, may_be_null);
    json_.key("anyOf").begin_array();
    for (const yaml::Form* each = &form; each != nullptr; each = each->otherwise) {
      json_.begin_object();
      one(*each, may_be_null && each == &form);
      json_.end_object();
    }
    json_.end_array();
  }

  void one(const yaml::Form& form, bool may_be_null) {
    using Kind = yaml::Form::Kind;
    switch (form.kind) {
      case Kind::kAny:
        break;
      case Kind::kText:
        types({"string", "number", "boolean"}, may_be_null);
        if (!form.pattern.empty()) json_.member("pattern", form.pattern);
        examples(form);
        break;
      case Kind::kName:
        types({"string"}, may_be_null);
        json_.member("pattern", form.pattern);
        break;
      case Kind::kInteger:
      case Kind::kNumber:
        types({form.kind == Kind::kInteger ? "integer" : "number"}, may_be_null);
        json_.member("minimum", form.least);
        if (form.most != yaml::Form::kNoLimit) json_.member("maximum", form.most);
        break;
      case Kind::kBoolean:
        types({"boolean"}, may_be_null);
        break;
      case Kind::kBytes:
        types({"integer", "string"}, may_be_null);
        json_.member("minimum", std::int64_t{0});
        json_.member("pattern", kAmount);
        break;
      case Kind::kChoice:
        json_.key("enum").begin_array(true);
        for (const std::string_view choice : form.choices) json_.value(choice);
        if (may_be_null) json_.null();
        json_.end_array();
        break;
      case Kind::kMap:
        object(*form.map, may_be_null);
        break;
      case Kind::kMapOf:
        types({"object"}, may_be_null);
        if (!form.pattern.empty()) {
          json_.key("propertyNames").begin_object(true);
          json_.member("pattern", form.pattern).end_object();
        }
        of("additionalProperties", form);
        break;
      case Kind::kListOf:
        types({"array"}, may_be_null);
        if (form.least > 0) json_.member("minItems", form.least);
        of("items", form);
        break;
    }
  }

  /// What the items of a list, or the values of a map, may be; they may be null where they may be
  /// anything.
  void of(std::string_view key, const yaml::Form& form) {
    if (form.item->kind == yaml::Form::Kind::kAny) return;
    json_.key(key).begin_object();
    value(*form.item, form.kind == yaml::Form::Kind::kMapOf);
    json_.end_object();
  }

  void examples(const yaml::Form& form) {
    if (form.examples == nullptr) return;
    json_.key("examples").begin_array(true);
    for (const std::string_view text : form.examples()) json_.value(text);
    json_.end_array();
  }

  JsonWriter json_;
};

}  // namespace

std::string json_schema(const yaml::Map& map, std::string_view title) {
  std::string out;
  Writer(out).document(map, title);
  return out;
}

}  // namespace tidemark
