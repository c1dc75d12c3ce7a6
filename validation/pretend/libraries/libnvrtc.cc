#include <nvrtc.h>
#include "validation/pretend/libraries/fake.h"

FAKE_EXPORT nvrtcResult nvrtcVersion(int* a, int* b) {
  *a = CUDART_VERSION / 1000;
  *b = CUDART_VERSION % 1000 / 10;
  return NVRTC_SUCCESS;
}
FAKE_EXPORT const char* nvrtcGetErrorString(nvrtcResult) { return "fakecuda nvrtc"; }
FAKE_EXPORT nvrtcResult nvrtcGetPTXSize(nvrtcProgram, size_t* n) {
  *n = 8;
  return NVRTC_SUCCESS;
}
FAKE_EXPORT nvrtcResult nvrtcGetPTX(nvrtcProgram, char* p) {
  memset(p, 0, 8);
  return NVRTC_SUCCESS;
}
FAKE_EXPORT nvrtcResult nvrtcGetCUBINSize(nvrtcProgram, size_t* n) {
  *n = 8;
  return NVRTC_SUCCESS;
}
FAKE_EXPORT nvrtcResult nvrtcGetCUBIN(nvrtcProgram, char* p) {
  memset(p, 0, 8);
  return NVRTC_SUCCESS;
}
FAKE_EXPORT nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram, size_t* n) {
  *n = 1;
  return NVRTC_SUCCESS;
}
FAKE_EXPORT nvrtcResult nvrtcGetProgramLog(nvrtcProgram, char* p) {
  p[0] = 0;
  return NVRTC_SUCCESS;
}
FAKE_EXPORT nvrtcResult nvrtcGetLoweredName(nvrtcProgram, const char* const e, const char** n) {
  *n = e;
  return NVRTC_SUCCESS;
}
