// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.markup;

import java.util.ArrayList;
import java.util.List;

/** An axis of a chart: values along a line of pixels, from 0 up, with ticks at round numbers. */
public record Axis(double top, double step, double fromPixel, double toPixel) {

    private static final int MOST_TICKS = 5;

    /** Creates an axis up to a round number that is not below the greatest value. */
    public static Axis of(double greatest, double fromPixel, double toPixel) {
        double most = greatest > 0 && Double.isFinite(greatest) ? greatest : 1;
        double raw = most / MOST_TICKS;
        double magnitude = Math.pow(10, Math.floor(Math.log10(raw)));
        double step = magnitude;
        for (double factor : new double[] {1, 2, 5, 10}) {
            step = factor * magnitude;
            if (raw <= step) {
                break;
            }
        }
        return new Axis(Math.ceil(most / step - 1e-9) * step, step, fromPixel, toPixel);
    }

    /** Creates an axis up to the greatest value. */
    public static Axis upTo(double greatest, double fromPixel, double toPixel) {
        Axis round = of(greatest, fromPixel, toPixel);
        return greatest > 0 ? new Axis(greatest, round.step, fromPixel, toPixel) : round;
    }

    public double pixel(double value) {
        return fromPixel + (toPixel - fromPixel) * value / top;
    }

    public List<Double> ticks() {
        List<Double> ticks = new ArrayList<>();
        for (int i = 0; i * step <= top * (1 + 1e-9); i++) {
            ticks.add(i * step);
        }
        return ticks;
    }
}
