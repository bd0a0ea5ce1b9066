// Thrift's binary protocol in which every text is UTF-8, in every method: both sides of every service use
// it, so that no method can forget the rule. `binary` fields of the IDL are free. See text_places.h.
#pragma once

#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/protocol/TVirtualProtocol.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/rpc/text_places.h"

namespace apache::thrift {
class TProcessor;
}

namespace rota::rpc {

struct MessageLimits {
  std::int32_t string_bytes = 0;  ///< 0: none
  std::int32_t container_items = 0;
};

/// A request contained a text that is not UTF-8. Thrown when the whole request has been read; the processor
/// of answer_refused_texts answers it.
class TextRefused final : public apache::thrift::TException {
 public:
  TextRefused(const std::string& why, std::string of, std::int32_t number)
      : TException(why), method(std::move(of)), sequence(number) {}
  std::string method;
  std::int32_t sequence;
};

/// One message at a time. Thread: one.
/// Reading a request refuses or repairs a broken text, depending on the method. Reading an answer repairs it.
/// Writing a request refuses it before anything is sent (TTransportException BAD_ARGS), or repairs it.
/// Writing an answer repairs it, as the last resort.
class TextProtocol final
    : public apache::thrift::protocol::TVirtualProtocol<TextProtocol,
                                                        apache::thrift::protocol::TBinaryProtocol> {
 public:
  explicit TextProtocol(std::shared_ptr<apache::thrift::transport::TTransport> transport,
                        MessageLimits limits = {});

  std::uint32_t readMessageBegin(std::string& name, apache::thrift::protocol::TMessageType& type,
                                 std::int32_t& sequence);
  std::uint32_t readMessageEnd();
  std::uint32_t readStructBegin(std::string& name);
  std::uint32_t readStructEnd();
  std::uint32_t readFieldBegin(std::string& name, apache::thrift::protocol::TType& type,
                               std::int16_t& number);
  std::uint32_t readListBegin(apache::thrift::protocol::TType& type, std::uint32_t& size);
  std::uint32_t readListEnd();
  std::uint32_t readMapBegin(apache::thrift::protocol::TType& key, apache::thrift::protocol::TType& value,
                             std::uint32_t& size);
  std::uint32_t readMapEnd();
  std::uint32_t readString(std::string& text);

  std::uint32_t writeMessageBegin(const std::string& name, apache::thrift::protocol::TMessageType type,
                                  std::int32_t sequence);
  std::uint32_t writeFieldBegin(const char* name, apache::thrift::protocol::TType type, std::int16_t number);
  std::uint32_t writeString(const std::string& text);

 private:
  using Base = apache::thrift::protocol::TBinaryProtocol;
  /// A struct, list or map that is being read.
  struct Frame {
    enum class Kind { Struct, List, Map } kind = Kind::Struct;
    std::int16_t field = 0;     ///< Struct
    std::size_t index = 0;      ///< List: of the element that is read
    bool has_text_values = false;  ///< Map
    bool is_value_next = false;    ///< Map
    std::string key;               ///< Map: the last one read
  };

  void push(Frame::Kind kind);
  void pop();
  void note_element();
  std::string place() const;
  void repair_broken(std::string& text);

  std::string method_;
  std::int32_t sequence_ = 0;
  bool refuses_ = false;
  std::string refusal_;  ///< of this message; empty: none
  std::vector<Frame> frames_;
  const char* field_written_ = "";
};

/// For both directions of a server.
std::shared_ptr<apache::thrift::protocol::TProtocolFactory> text_protocols(MessageLimits limits);

/// Passes every message on. Answers a request whose texts are not UTF-8 with a RotaError that names the
/// place. `peer`: host:port of the client, for the log.
std::shared_ptr<apache::thrift::TProcessor> answer_refused_texts(
    std::shared_ptr<apache::thrift::TProcessor> processor, std::string peer = {});

}  // namespace rota::rpc
