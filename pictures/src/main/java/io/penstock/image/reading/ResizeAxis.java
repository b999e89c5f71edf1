// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

/**
 * The weights of one direction of {@link Resizer}, kept while sizes stay the same. Input positions count from the
 * border before which no pixel counts.
 */
final class ResizeAxis {

    static final int WEIGHT_BITS = 22;

    private int sourceSize;
    private double boxFrom;
    private double boxTo;
    private int size;
    private int start;
    /** The outputs that are computed. */
    int part;
    private double[] exact = {};
    private Resizer.Filter filter = Resizer.Filter.BILINEAR;
    int[] first = {};
    int[] count = {};
    /** Those of output i start at {@code i * maxCount}. */
    int[] weights = {};
    int maxCount;
    boolean isIdentity;
    /** Whether a sum may be outside 0 to 255. */
    boolean mayOverflow;

    /**
     * Computes the weights of outputs between two places in the input.
     *
     * @param newSourceSize the pixels that count
     * @param newBoxFrom the start of the first output, in input pixels
     * @param newSize the outputs between the two places, of which {@code newPart} from {@code newStart} on are computed
     */
    void set(Resizer.Filter by, int newSourceSize, double newBoxFrom, double newBoxTo, int newSize, int newStart,
            int newPart) {
        if (by == filter && sourceSize == newSourceSize && boxFrom == newBoxFrom && boxTo == newBoxTo
                && size == newSize && start == newStart && part == newPart) {
            return;
        }
        filter = by;
        sourceSize = newSourceSize;
        boxFrom = newBoxFrom;
        boxTo = newBoxTo;
        size = newSize;
        start = newStart;
        part = newPart;
        isIdentity = boxFrom == 0 && boxTo == size && sourceSize == size;
        double scale = (boxTo - boxFrom) / size;
        double stretch = Math.max(scale, 1);
        double reach = filter.reach * stretch;
        maxCount = isIdentity ? 1 : (int) Math.ceil(reach) * 2 + 1;
        mayOverflow = filter.hasNegativeWeights;
        if (first.length < part) {
            first = new int[part];
            count = new int[part];
        }
        int needed = Math.multiplyExact(part, maxCount);
        if (weights.length < needed) {
            weights = new int[needed];
        }
        if (exact.length < maxCount) {
            exact = new double[maxCount];
        }
        for (int i = 0; i < part; i++) {
            if (isIdentity) {
                first[i] = start + i;
                count[i] = 1;
            } else {
                weigh(i, boxFrom + (start + i + 0.5) * scale, reach, stretch);
            }
        }
    }

    private void weigh(int i, double center, double reach, double stretch) {
        int from = Math.max((int) (center - reach + 0.5), 0);
        int to = Math.min((int) (center + reach + 0.5), sourceSize);
        double inverse = 1 / stretch;
        double sum = 0;
        for (int k = 0; k < to - from; k++) {
            double weight = filter.weight((k + from - center + 0.5) * inverse);
            exact[k] = weight;
            sum += weight;
        }
        int total = 0;
        for (int k = 0; k < to - from; k++) {
            double weight = (sum == 0 ? exact[k] : exact[k] / sum) * (1 << WEIGHT_BITS);
            int rounded = (int) (weight < 0 ? weight - 0.5 : weight + 0.5);
            weights[i * maxCount + k] = rounded;
            total += rounded;
        }
        // Rounded weights sum to about 1. Of very many, they may sum to so much more that white exceeds 255.
        mayOverflow |= (255L * total + (1 << WEIGHT_BITS - 1)) >> WEIGHT_BITS > 255;
        first[i] = from;
        count[i] = to - from;
    }

    int low() {
        return first[0];
    }

    int high() {
        return first[part - 1] + count[part - 1];
    }
}
