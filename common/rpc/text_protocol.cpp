#include "common/rpc/text_protocol.h"

#include <thrift/TProcessor.h>
#include <thrift/transport/TTransportException.h>

#include <utility>

#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/rpc/error_wire.h"

namespace rota::rpc {
namespace {

namespace protocol = apache::thrift::protocol;
using apache::thrift::transport::TTransport;
using apache::thrift::transport::TTransportException;
using protocol::TMessageType;
using protocol::TType;

class Protocols final : public protocol::TProtocolFactory {
 public:
  explicit Protocols(MessageLimits limits) : limits_(limits) {}
  std::shared_ptr<protocol::TProtocol> getProtocol(std::shared_ptr<TTransport> transport) override {
    return std::make_shared<TextProtocol>(std::move(transport), limits_);
  }

 private:
  const MessageLimits limits_;
};

/// Every method of the IDL throws RotaError as its field 1.
void write_refusal(protocol::TProtocol& out, const TextRefused& refused) {
  out.writeMessageBegin(refused.method, protocol::T_REPLY, refused.sequence);
  out.writeStructBegin("result");
  out.writeFieldBegin("error", protocol::T_STRUCT, 1);
  to_wire(Error(ErrorCode::InvalidArgument, refused.what())).write(&out);
  out.writeFieldEnd();
  out.writeFieldStop();
  out.writeStructEnd();
  out.writeMessageEnd();
  out.getTransport()->writeEnd();
  out.getTransport()->flush();
}

class RefusalAnswerer final : public apache::thrift::TProcessor {
 public:
  RefusalAnswerer(std::shared_ptr<TProcessor> inner, std::string peer)
      : inner_(std::move(inner)), peer_(std::move(peer)) {}
  bool process(std::shared_ptr<protocol::TProtocol> in, std::shared_ptr<protocol::TProtocol> out,
               void* context) override {
    try {
      return inner_->process(in, out, context);
    } catch (const TextRefused& refused) {
      log_debug("rpc", "a request was refused",
                {{"method", shown_text(refused.method)}, {"why", refused.what()}, {"from", peer_}});
      in->getTransport()->readEnd();
      write_refusal(*out, refused);
      return true;
    }
  }

 private:
  const std::shared_ptr<TProcessor> inner_;
  const std::string peer_;
};

}  // namespace

TextProtocol::TextProtocol(std::shared_ptr<TTransport> transport, MessageLimits limits)
    : TVirtualProtocol(std::move(transport)) {
  setStringSizeLimit(limits.string_bytes);
  setContainerSizeLimit(limits.container_items);
  setStrict(/*strict_read=*/true, /*strict_write=*/true);
}

// --- reading --------------------------------------------------------------------------------------

std::uint32_t TextProtocol::readMessageBegin(std::string& name, TMessageType& type, std::int32_t& sequence) {
  frames_.clear();
  refusal_.clear();
  const std::uint32_t read = Base::readMessageBegin(name, type, sequence);
  method_ = name;
  sequence_ = sequence;
  const bool is_request = type == protocol::T_CALL || type == protocol::T_ONEWAY;
  refuses_ = is_request && broken_text_of(method_) == BrokenText::Refused;
  return read;
}

std::uint32_t TextProtocol::readMessageEnd() {
  const std::uint32_t read = Base::readMessageEnd();
  if (!refusal_.empty()) throw TextRefused(std::exchange(refusal_, {}), method_, sequence_);
  return read;
}

void TextProtocol::push(Frame::Kind kind) {
  note_element();
  frames_.push_back({});
  frames_.back().kind = kind;
}

void TextProtocol::pop() {
  if (!frames_.empty()) frames_.pop_back();
}

/// In a list, counts the element that is read now. Indexes count from 1 here, because 0 means none yet.
void TextProtocol::note_element() {
  if (!frames_.empty() && frames_.back().kind == Frame::Kind::List) ++frames_.back().index;
}

std::uint32_t TextProtocol::readStructBegin(std::string& name) {
  push(Frame::Kind::Struct);
  return Base::readStructBegin(name);
}

std::uint32_t TextProtocol::readStructEnd() {
  pop();
  return Base::readStructEnd();
}

std::uint32_t TextProtocol::readFieldBegin(std::string& name, TType& type, std::int16_t& number) {
  const std::uint32_t read = Base::readFieldBegin(name, type, number);
  if (!frames_.empty()) frames_.back().field = number;
  return read;
}

std::uint32_t TextProtocol::readListBegin(TType& type, std::uint32_t& size) {
  push(Frame::Kind::List);
  return Base::readListBegin(type, size);
}

std::uint32_t TextProtocol::readListEnd() {
  pop();
  return Base::readListEnd();
}

std::uint32_t TextProtocol::readMapBegin(TType& key, TType& value, std::uint32_t& size) {
  push(Frame::Kind::Map);
  const std::uint32_t read = Base::readMapBegin(key, value, size);
  frames_.back().has_text_values = value == protocol::T_STRING;
  return read;
}

std::uint32_t TextProtocol::readMapEnd() {
  pop();
  return Base::readMapEnd();
}

std::uint32_t TextProtocol::readString(std::string& text) {
  note_element();
  const std::uint32_t read = Base::readString(text);
  if (!is_utf8(text)) repair_broken(text);
  if (!frames_.empty() && frames_.back().kind == Frame::Kind::Map) {
    Frame& map = frames_.back();
    if (!map.is_value_next) map.key = text;
    map.is_value_next = map.has_text_values && !map.is_value_next;
  }
  return read;
}

std::string TextProtocol::place() const {
  std::vector<PlaceStep> steps;
  for (const Frame& frame : frames_) {
    if (frame.kind == Frame::Kind::Struct) {
      steps.emplace_back(FieldNumber{frame.field});
    } else if (frame.kind == Frame::Kind::List) {
      steps.emplace_back(ListIndex{frame.index - 1});
    } else if (frame.is_value_next || !frame.has_text_values) {
      steps.emplace_back(frame.key);
    }
  }
  return place_text(method_, steps);
}

void TextProtocol::repair_broken(std::string& text) {
  if (!refuses_) {
    note_repaired(method_, place(), /*is_outgoing=*/false);
  } else if (refusal_.empty()) {
    refusal_ = broken_text_message(place(), text);
  }
  text = repaired_text(text);
}

// --- writing --------------------------------------------------------------------------------------

std::uint32_t TextProtocol::writeMessageBegin(const std::string& name, TMessageType type,
                                              std::int32_t sequence) {
  method_ = name;
  field_written_ = "";
  const bool is_request = type == protocol::T_CALL || type == protocol::T_ONEWAY;
  refuses_ = is_request && broken_text_of(method_) == BrokenText::Refused;
  return Base::writeMessageBegin(is_utf8(name) ? name : repaired_text(name), type, sequence);
}

std::uint32_t TextProtocol::writeFieldBegin(const char* name, TType type, std::int16_t number) {
  field_written_ = name;
  return Base::writeFieldBegin(name, type, number);
}

std::uint32_t TextProtocol::writeString(const std::string& text) {
  if (is_utf8(text)) return Base::writeString(text);
  if (refuses_) {
    throw TTransportException(TTransportException::BAD_ARGS, broken_text_message(field_written_, text));
  }
  note_repaired(method_, field_written_, /*is_outgoing=*/true);
  return Base::writeString(repaired_text(text));
}

std::shared_ptr<protocol::TProtocolFactory> text_protocols(MessageLimits limits) {
  return std::make_shared<Protocols>(limits);
}

std::shared_ptr<apache::thrift::TProcessor> answer_refused_texts(
    std::shared_ptr<apache::thrift::TProcessor> processor, std::string peer) {
  return std::make_shared<RefusalAnswerer>(std::move(processor), std::move(peer));
}

}  // namespace rota::rpc
