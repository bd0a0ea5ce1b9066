#include "worker/handlers/call_trouble.h"

#include "common/base/duration_text.h"
#include "common/base/size_text.h"

namespace rota::worker::handlers {

namespace {

using What = CallTrouble::What;

/// What went wrong, and where to look; the second may be empty.
struct Words {
  std::string what;
  std::string remedy;
};

Words time_words(const CallTrouble& trouble, const model::HttpCall& call) {
  if (trouble.took >= call.timeout) {
    return {"no whole answer within timeout, " + format_duration(call.timeout),
            "parameters.timeout allows more"};
  }
  return {"no connection within connect_timeout, " + format_duration(call.connect_timeout),
          "parameters.connect_timeout allows more"};
}

Words size_words(const std::string& what, std::int64_t most) {
  return {what + " is longer than " + format_size(most) + ", the most that is read",
          "the server must send less there"};
}

Words words_of(const CallTrouble& trouble, const model::HttpCall& call) {
  switch (trouble.what) {
    case What::NoAddress:
      return {"this worker finds no address of the host", "look at the name, and at the worker's DNS"};
    case What::NoConnection:
      return {"no connection", "does it listen there, and may this worker reach it?"};
    case What::TimedOut: return time_words(trouble, call);
    case What::NoTls: return {"no TLS connection", "does it speak TLS at this port?"};
    case What::NotTrusted:
      return {"the server's certificate is not accepted",
              "it must name the host, and come from an authority of this worker's or of parameters.ca_file"};
    case What::BadCaFile:
      return {"ca_file " + call.ca_file + " cannot be used", "it must be a readable PEM file on this worker"};
    case What::BadUrl: return {"the address cannot be read", "look at parameters.url"};
    case What::BadRedirect:
      return {"was redirected to where no call can go", "only http:// and https:// are followed"};
    case What::TooManyRedirects:
      return {"was redirected more than " + std::to_string(call.redirects) + " times",
              "parameters.redirects allows up to 20"};
    case What::NoHttp:
      return {"what came back is no HTTP/1 or 2", "does another service listen at this port?"};
    case What::HeadLineTooLong: return size_words("a line of the answer's head", kMostHeadLineBytes);
    case What::HeadTooLong: return size_words("the answer's head", kMostHeadBytes);
    case What::TrailerTooLong: return size_words("the answer's trailer", kMostTrailerBytes);
    case What::NoAnswer:
      return {"the connection was closed without an answer", "look at the server's own log"};
    case What::CutShort: return {"the answer ended too early", "look at the server's own log"};
    case What::BrokenRules: return {"the answer breaks the rules of HTTP", ""};
    case What::NotSent: return {"the call could not be sent whole", ""};
    case What::Other: break;
  }
  return {"the call failed", ""};
}

ErrorCode code_of(What what) {
  switch (what) {
    case What::TimedOut: return ErrorCode::TimedOut;
    case What::BadCaFile:
    case What::BadUrl: return ErrorCode::InvalidArgument;
    default: return ErrorCode::Unavailable;
  }
}

}  // namespace

Error error_of(const CallTrouble& trouble, const model::HttpCall& call) {
  const Words words = words_of(trouble, call);
  std::string text = call.method + " " + call.url + ": ";
  if (trouble.redirects > 0 && trouble.last_url != call.url) {
    text += "redirected to " + trouble.last_url + ": ";
  }
  text += words.what;
  if (!trouble.detail.empty()) text += " (" + trouble.detail + ")";
  if (!words.remedy.empty()) text += "; " + words.remedy;
  return {code_of(trouble.what), text};
}

}  // namespace rota::worker::handlers
