package org.tensorflow.lite;

import java.io.File;
import java.util.Map;

public class Interpreter implements AutoCloseable {
  public Interpreter(File file) {}

  public int getInputTensorCount() {
    throw new UnsupportedOperationException();
  }

  public int getOutputTensorCount() {
    throw new UnsupportedOperationException();
  }

  public void resizeInput(int index, int[] dims) {}

  public void allocateTensors() {}

  public Tensor getInputTensor(int index) {
    throw new UnsupportedOperationException();
  }

  public Tensor getOutputTensor(int index) {
    throw new UnsupportedOperationException();
  }

  public Tensor getInputTensorFromSignature(String name, String key) {
    throw new UnsupportedOperationException();
  }

  public Tensor getOutputTensorFromSignature(String name, String key) {
    throw new UnsupportedOperationException();
  }

  public void runForMultipleInputsOutputs(Object[] inputs, Map<Integer, Object> outputs) {}

  public void runSignature(Map<String, Object> inputs, Map<String, Object> outputs, String key) {}

  @Override
  public void close() {}
}
