package io.penstock.diagnose.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.penstock.diagnose.metrics.Metric;
import io.penstock.diagnose.metrics.Metrics;
import java.util.List;

/**
 * Binds metrics to a Micrometer registry: {@code new PenstockMeters(Metrics.of("train", loader)).bindTo(registry)}.
 * Names are Micrometer's way, {@code penstock.slot.wait} in seconds, so that each registry spells them as it does; a
 * Prometheus registry comes to the names of {@link Metric#prometheusName}. The registry keeps the sources reachable.
 */
public final class PenstockMeters implements MeterBinder {

    private final Metrics metrics;

    /**
     * A binder of some metrics.
     *
     * @param metrics what to bind
     */
    public PenstockMeters(Metrics metrics) {
        this.metrics = metrics;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        for (Metric metric : metrics.all()) {
            String name = "penstock." + metric.name().replace('_', '.');
            String unit = metric.unit() == Metric.Unit.NONE ? null : metric.unit().toString();
            List<Tag> tags = metric.labels().entrySet().stream()
                    .map(label -> Tag.of(label.getKey(), label.getValue())).toList();
            // Meters hold what they read weakly; the function holds it for them.
            if (metric.kind() == Metric.Kind.COUNTER) {
                FunctionCounter.builder(name, metric, same -> metric.value().getAsDouble()).tags(tags)
                        .baseUnit(unit).description(metric.help()).register(registry);
            } else {
                Gauge.builder(name, metric, same -> metric.value().getAsDouble()).tags(tags)
                        .baseUnit(unit).description(metric.help()).register(registry);
            }
        }
    }
}
