#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    for (int i = 0; i < 10; i++) { printf("step %d loss %.3f\n", i, 2.0 / (i + 1)); fflush(stdout); usleep(30000); }
    fprintf(stderr, "F20261124 10:00:00.123456  4711 matrix.cc:88] Check failed: rows == cols (4096 vs. 4095) \n*** Check failure stack trace: ***\n"
            "    @     0x7f8c1c0  google::LogMessage::Fail()\n    @     0x7f8c2d1  google::LogMessage::SendToLog()\n    @     0x55d0a1b  main\n");
    abort();
}
