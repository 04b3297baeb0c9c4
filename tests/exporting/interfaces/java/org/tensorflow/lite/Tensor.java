package org.tensorflow.lite;

import java.nio.ByteBuffer;

public interface Tensor {
  DataType dataType();

  int numBytes();

  int numElements();

  int[] shape();

  ByteBuffer asReadOnlyBuffer();
}
