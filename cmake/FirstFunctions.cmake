# What a run executes lies side by side in the program, so that its start touches few pages: sim/cli/first_functions.ld names the
# functions, -ffunction-sections makes each a part that the linker can move. Other linkers than GNU's and LLVM's do without.
include(CheckCXXSourceCompiles)
set(first_functions ${PROJECT_SOURCE_DIR}/sim/cli/first_functions.ld)
set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,-T,${first_functions})
check_cxx_source_compiles("int main() { return 0; }" TIDEMARK_CAN_ORDER_FUNCTIONS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(TIDEMARK_CAN_ORDER_FUNCTIONS)
  add_compile_options($<$<CONFIG:Release>:-ffunction-sections>)
endif()

# tidemark_order_functions(TARGET): links a program so. A linker writes its file piece by piece, and Linux keeps it in memory in
# pieces of that size; copied whole, it is kept in large ones, and mapping it takes 0.3 ms less.
function(tidemark_order_functions target)
  add_custom_command(
    TARGET ${target} POST_BUILD
    COMMAND cp $<TARGET_FILE:${target}> $<TARGET_FILE:${target}>.whole
    COMMAND mv -f $<TARGET_FILE:${target}>.whole $<TARGET_FILE:${target}>
    VERBATIM)
  if(TIDEMARK_CAN_ORDER_FUNCTIONS)
    target_link_options(${target} PRIVATE $<$<CONFIG:Release>:-Wl,--gc-sections,-T,${first_functions}>)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${first_functions})
  endif()
endfunction()
