// NCCL with one real process: every collective is an entry on the stream.
#include <nccl.h>
#include "validation/pretend/libraries/fake.h"

namespace {
struct Comm {
  int ranks, rank;
};
ncclResult_t make(ncclComm_t* c, int ranks, int rank) {
  size_t n = fake::env_bytes("FAKECUDA_NCCL_BYTES", 0);
  if (n && fakecuda_take(-1, n, "nccl")) return ncclUnhandledCudaError;
  auto* m = (Comm*)fake::object();
  m->ranks = ranks;
  m->rank = rank;
  *c = (ncclComm_t)m;
  fakecuda_note("ncclCommInit");
  return ncclSuccess;
}
}  // namespace

FAKE_EXPORT ncclResult_t ncclGetVersion(int* v) {
  *v = NCCL_VERSION_CODE;
  return ncclSuccess;
}
FAKE_EXPORT ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  memset(id, 7, sizeof *id);
  return ncclSuccess;
}
FAKE_EXPORT ncclResult_t ncclCommInitRank(ncclComm_t* c, int n, ncclUniqueId, int r) {
  return make(c, n, r);
}
FAKE_EXPORT ncclResult_t ncclCommInitRankConfig(ncclComm_t* c, int n, ncclUniqueId, int r,
                                                ncclConfig_t*) {
  return make(c, n, r);
}
FAKE_EXPORT ncclResult_t ncclCommInitAll(ncclComm_t* c, int n, const int*) {
  for (int i = 0; i < n; ++i) make(c + i, n, i);
  return ncclSuccess;
}
FAKE_EXPORT ncclResult_t ncclCommSplit(ncclComm_t, int, int key, ncclComm_t* c, ncclConfig_t*) {
  return make(c, key + 1, key);
}
FAKE_EXPORT ncclResult_t ncclCommCount(const ncclComm_t c, int* n) {
  *n = ((Comm*)c)->ranks;
  return ncclSuccess;
}
FAKE_EXPORT ncclResult_t ncclCommUserRank(const ncclComm_t c, int* r) {
  *r = ((Comm*)c)->rank;
  return ncclSuccess;
}
FAKE_EXPORT ncclResult_t ncclCommCuDevice(const ncclComm_t, int* d) {
  *d = 0;
  return ncclSuccess;
}
FAKE_EXPORT const char* ncclGetErrorString(ncclResult_t) { return "fakecuda nccl status"; }
FAKE_EXPORT const char* ncclGetLastError(ncclComm_t) { return ""; }

// What this rank would see if every rank held what it holds: small data is
// copied so that control values (shapes, counts, flags) come out right.
namespace {
size_t width(ncclDataType_t t) {
  switch (t) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      return 1;
  }
}
ncclResult_t copy(const void* from, void* to, size_t n, cudaStream_t s) {
  if (from != to && to && from)
    cudaMemcpyAsync(to, from, n, cudaMemcpyDeviceToDevice, s);
  else
    fakecuda_enqueue(s);
  return ncclSuccess;
}
}  // namespace

FAKE_EXPORT ncclResult_t ncclAllReduce(const void* a, void* b, size_t n, ncclDataType_t t,
                                       ncclRedOp_t, ncclComm_t, cudaStream_t s) {
  return copy(a, b, n * width(t), s);
}
FAKE_EXPORT ncclResult_t ncclReduceScatter(const void* a, void* b, size_t n, ncclDataType_t t,
                                           ncclRedOp_t, ncclComm_t c, cudaStream_t s) {
  return copy((const char*)a + n * width(t) * ((Comm*)c)->rank, b, n * width(t), s);
}
FAKE_EXPORT ncclResult_t ncclAllGather(const void* a, void* b, size_t n, ncclDataType_t t,
                                       ncclComm_t c, cudaStream_t s) {
  for (int i = 0; i < ((Comm*)c)->ranks; ++i) copy(a, (char*)b + n * width(t) * i, n * width(t), s);
  return ncclSuccess;
}
FAKE_EXPORT ncclResult_t ncclBroadcast(const void* a, void* b, size_t n, ncclDataType_t t, int,
                                       ncclComm_t, cudaStream_t s) {
  return copy(a, b, n * width(t), s);
}
FAKE_EXPORT ncclResult_t ncclBcast(void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t s) {
  fakecuda_enqueue(s);
  return ncclSuccess;
}
FAKE_EXPORT ncclResult_t ncclReduce(const void* a, void* b, size_t n, ncclDataType_t t, ncclRedOp_t,
                                    int, ncclComm_t, cudaStream_t s) {
  return copy(a, b, n * width(t), s);
}
FAKE_EXPORT ncclResult_t ncclSend(const void*, size_t, ncclDataType_t, int, ncclComm_t,
                                  cudaStream_t s) {
  fakecuda_enqueue(s);
  return ncclSuccess;
}
FAKE_EXPORT ncclResult_t ncclRecv(void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t s) {
  fakecuda_enqueue(s);
  return ncclSuccess;
}
