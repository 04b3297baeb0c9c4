#pragma once
void MicroPrintf(const char* format, ...) __attribute__((format(printf, 1, 2)));
