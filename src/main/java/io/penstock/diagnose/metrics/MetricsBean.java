// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.metrics;

import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Exposes metrics in JMX, each as a read-only attribute: {@code long} for totals of counts and for bytes, otherwise
 * {@code double}. So JConsole and other clients need no Penstock classes. The metric
 * {@code penstock_stage_seconds_total{stage="plan"}} becomes {@code StageSecondsTotalPlan}.
 */
public final class MetricsBean implements AutoCloseable {

    private static final String LOADER = "loader";

    private final ObjectName name;
    private final MBeanServer server;

    private MetricsBean(ObjectName name, MBeanServer server) {
        this.name = name;
        this.server = server;
    }

    /**
     * Registers metrics with the platform MBean server, as {@code io.penstock:type=Metrics,name=…}.
     *
     * @param name distinguishes them from others
     * @param metrics the metrics
     * @return the registration, which the caller closes
     * @throws IllegalArgumentException if the name is taken, or two metrics would have one attribute: register the
     *     sources separately
     */
    public static MetricsBean register(String name, Metrics metrics) {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        try {
            ObjectName object = new ObjectName("io.penstock:type=Metrics,name=" + ObjectName.quote(name));
            server.registerMBean(new Bean(metrics), object);
            return new MetricsBean(object, server);
        } catch (JMException e) {
            throw new IllegalArgumentException("JMX name '" + name + "': " + e.getMessage(), e);
        }
    }

    /** Unregisters the metrics. Repeating it has no effect. */
    @Override
    public void close() {
        try {
            server.unregisterMBean(name);
        } catch (InstanceNotFoundException _) {
            // Closed before, or unregistered by other code.
        } catch (JMException e) {
            throw new IllegalStateException(name + ": " + e.getMessage(), e);
        }
    }

    private static String attribute(Metric metric) {
        StringBuilder name = new StringBuilder();
        for (String word : metric.prometheusName().substring("penstock_".length()).split("_")) {
            capitalize(name, word);
        }
        metric.labels().forEach((key, value) -> {
            if (!key.equals(LOADER)) {
                capitalize(name, value);
            }
        });
        return name.toString();
    }

    private static void capitalize(StringBuilder name, String word) {
        name.append(Character.toUpperCase(word.charAt(0))).append(word, 1, word.length());
    }

    private static final class Bean implements DynamicMBean {

        private final Map<String, Metric> attributes = new LinkedHashMap<>();

        Bean(Metrics metrics) {
            for (Metric metric : metrics.all()) {
                if (attributes.put(attribute(metric), metric) != null) {
                    throw new IllegalArgumentException("found two metrics for the attribute " + attribute(metric)
                            + ", expected one");
                }
            }
        }

        @Override
        public Object getAttribute(String attribute) throws AttributeNotFoundException {
            Metric metric = attributes.get(attribute);
            if (metric == null) {
                throw new AttributeNotFoundException(attribute);
            }
            double value = metric.value().getAsDouble();
            return metric.isWhole() ? (Object) (long) value : (Object) value;
        }

        @Override
        public AttributeList getAttributes(String[] names) {
            AttributeList list = new AttributeList();
            for (String name : names) {
                try {
                    list.add(new Attribute(name, getAttribute(name)));
                } catch (AttributeNotFoundException _) {
                    // The interface requires omitting what cannot be read.
                }
            }
            return list;
        }

        @Override
        public void setAttribute(Attribute attribute) throws AttributeNotFoundException {
            throw new AttributeNotFoundException("attribute " + attribute.getName() + " is read-only");
        }

        @Override
        public AttributeList setAttributes(AttributeList list) {
            return new AttributeList();
        }

        @Override
        public Object invoke(String action, Object[] arguments, String[] signature) {
            throw new UnsupportedOperationException("unknown operation " + action);
        }

        @Override
        public MBeanInfo getMBeanInfo() {
            MBeanAttributeInfo[] infos = attributes.entrySet().stream().map(entry -> new MBeanAttributeInfo(
                    entry.getKey(), entry.getValue().isWhole() ? "long" : "double", entry.getValue().help(), true,
                    false, false)).toArray(MBeanAttributeInfo[]::new);
            return new MBeanInfo(MetricsBean.class.getName(), "Metrics of Penstock", infos, null, null, null);
        }
    }
}
