// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

/** y = (x − mean) / √(variance + ε) · gain + bias, row by row. */
final class LayerNorm {

    private static final float EPSILON = 1e-5f;

    private LayerNorm() {
    }

    /** Normalizes a row and returns 1 / √(variance + ε); {@code normal} becomes (x − mean) times it. */
    private static float normalize(float[] x, int at, float[] normal, int width) {
        float mean = Rows.sum(x, at, width) / width;
        for (int i = 0; i < width; i++) {
            normal[i] = x[at + i] - mean;
        }
        float variance = Rows.dot(normal, 0, normal, 0, width) / width;
        float inverse = 1 / (float) Math.sqrt(variance + EPSILON);
        for (int i = 0; i < width; i++) {
            normal[i] *= inverse;
        }
        return inverse;
    }

    static void forward(Matrix x, HostFloats gain, HostFloats bias, Matrix y, int firstRow, int endRow) {
        int width = x.columns();
        float[] normal = new float[width];
        for (int row = firstRow; row < endRow; row++) {
            normalize(x.array(), x.at(row, 0), normal, width);
            float[] out = y.array();
            int at = y.at(row, 0);
            for (int i = 0; i < width; i++) {
                out[at + i] = normal[i] * gain.array()[gain.offset() + i] + bias.array()[bias.offset() + i];
            }
        }
    }

    /** Adds the gradient of x to {@code dx}, and leaves the normalized rows in {@code normals} for the gain's. */
    static void backward(Matrix x, HostFloats gain, Matrix dy, Matrix dx, Matrix normals, int firstRow, int endRow) {
        int width = x.columns();
        float[] normal = new float[width];
        float[] scaled = new float[width];
        for (int row = firstRow; row < endRow; row++) {
            float inverse = normalize(x.array(), x.at(row, 0), normal, width);
            int dyAt = dy.at(row, 0);
            for (int i = 0; i < width; i++) {
                scaled[i] = dy.array()[dyAt + i] * gain.array()[gain.offset() + i];
            }
            float mean = Rows.sum(scaled, 0, width) / width;
            float along = Rows.dot(scaled, 0, normal, 0, width) / width;
            float[] out = dx.array();
            int at = dx.at(row, 0);
            for (int i = 0; i < width; i++) {
                out[at + i] += (scaled[i] - mean - normal[i] * along) * inverse;
            }
            System.arraycopy(normal, 0, normals.array(), normals.at(row, 0), width);
        }
    }
}
