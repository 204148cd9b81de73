#include "server/process/program.h"

int main(int argc, char** argv) { return tally::server::RunProgram({argv + 1, argv + argc}); }
