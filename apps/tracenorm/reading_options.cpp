#include "reading_options.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "option_values.hpp"

namespace tracenorm::app {

namespace {

/// Words between commas; two commas in a row have an empty one between them.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text + ",");
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

void add_words(CLI::App& app, const std::string& name, std::vector<std::string>& target, const std::string& type_name,
               const std::string& help) {
  app.add_option_function<std::vector<std::string>>(
         name,
         [&target](const std::vector<std::string>& texts) {
           target.clear();
           for (const std::string& text : texts) {
             for (const std::string& word : words_of(text)) target.push_back(word);
           }
         },
         help)
      ->type_name(type_name)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Data");
}

}  // namespace

void add_columns_option(CLI::App& app, io::ReadOptions& options, const std::string& type_name) {
  add_words(app, "--columns", options.columns, type_name,
            "which columns of a text are taken: names of its header, or numbers from 1 (default: by the usual names)");
}

void add_reading_options(CLI::App& app, io::ReadOptions& options) {
  app.add_option_function<std::string>(
         "--format",
         [&options](const std::string& text) {
           options.format = parse_for("--format", [&] { return io::parse_format(text); });
         },
         "format of the data, when name and first lines do not tell: auto, triplets, libmf, edges, matrix-market, npy, "
         "npz (SciPy sparse) or matrix (text, one line a row)")
      ->type_name("NAME")
      ->default_str("auto")
      ->group("Data");
  add_columns_option(app, options, "USER,ITEM,VALUE[,WEIGHT][,TIME]");
  add_words(app, "--missing", options.missing, "VALUE[,...]",
            "values that stand for none, such as 99; may be given several times");
  add_words(app, "--skip-columns", options.skip_columns, "COLUMN[,...]",
            "columns of a matrix as text that hold no values: names of its header, or numbers from 1");
  using Duplicates = io::ReadOptions::Duplicates;
  add_choice<Duplicates>(app, "--duplicates", options.duplicates,
                         {{"error", Duplicates::error},
                          {"first", Duplicates::first},
                          {"last", Duplicates::last},
                          {"mean", Duplicates::mean}},
                         "which value of an entry that is given twice counts")
      ->group("Data");
}

std::string message_with_option(const io::ReadError& error, const CLI::App& command) {
  std::string option = "--" + error.setting();
  std::replace(option.begin(), option.end(), '_', '-');
  return command.get_option_no_throw(option) == nullptr ? error.what() : std::string(error.what()) + " with " + option;
}

}  // namespace tracenorm::app
