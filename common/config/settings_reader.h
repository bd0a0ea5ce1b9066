// Fills settings from a document and from the environment. Private to common/config.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/config/load.h"
#include "common/config/options_table.h"
#include "common/config/yaml_reader.h"

namespace rota::config {

/// Reads one document and one environment into the settings, and remembers where each value came
/// from, so that later checks can name that place.
class SettingsReader {
 public:
  /// The arguments must outlive the reader.
  SettingsReader(std::vector<Setting>& settings, std::string file, Problems& problems);

  void read_document(const YamlNode& root);
  void read_environment(const Environment& environment);

  /// The keys that one of them says.
  std::vector<std::string> given() const;
  /// Adds a problem at the place from which the setting's value came.
  void refuse(const std::string& key, const std::string& what);

 private:
  struct Place {
    std::string source;
    Mark mark;
  };

  void read_map(const YamlNode& map, const std::string& section);
  void read_setting(Setting& setting, const YamlNode& node);
  void read_whole(Setting& setting, WholeField& field, const YamlNode& node);
  void read_text(Setting& setting, std::string& field, const YamlNode& node);
  void read_list(Setting& setting, std::vector<std::string>& field, const YamlNode& node);
  void read_map_of_texts(Setting& setting, std::map<std::string, std::string>& field,
                         const YamlNode& node);
  void read_levels(Setting& setting, std::map<std::string, Severity>& field, const YamlNode& node);
  bool is_scalar(const Setting& setting, const YamlNode& node, std::string_view expected);
  bool passes(const Setting& setting, const std::string& value);
  void refuse_unknown(const std::string& key, Mark mark, const std::string& section);
  Setting* find(const std::string& key);
  bool is_section(const std::string& key) const;
  std::vector<std::string> names_in(const std::string& section) const;

  std::vector<Setting>& settings_;
  const std::string file_;
  Problems& problems_;
  std::map<std::string, Place> places_;
};

}  // namespace rota::config
