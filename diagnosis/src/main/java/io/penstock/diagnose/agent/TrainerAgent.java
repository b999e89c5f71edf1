// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.agent;

import io.penstock.diagnose.Diagnosis;
import io.penstock.diagnose.InputCalls;
import io.penstock.diagnose.Summary;
import io.penstock.diagnose.agent.InputTransformer.Input;
import io.penstock.diagnose.metrics.Metrics;
import io.penstock.diagnose.metrics.PrometheusEndpoint;
import io.penstock.diagnose.report.HtmlReport;
import io.penstock.diagnose.watch.StatusFile;
import io.penstock.io.publish.AtomicFile;
import io.penstock.loader.DataLoader.Role;
import io.penstock.loader.DeviceLoader;
import io.penstock.loader.LoaderInfo;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A Java agent that diagnoses a trainer whose code does not do it. It finds every loader that the process opens, and
 * writes a report of each when it is closed, or when the process ends, also by Ctrl-C. Input of other libraries is
 * timed if its method is named.
 *
 * <pre>{@code
 * java -javaagent:penstock-diagnosis.jar=report=run,input=com.acme.Data#next -cp … com.acme.Trainer
 * }</pre>
 *
 * <table>
 * <caption>Arguments, separated by commas; {@code %2C} is a comma within one</caption>
 * <tr><td>{@code report=DIR}</td><td>folder of the report; default {@code penstock-run}. Further loaders and inputs
 * have folders in it</td></tr>
 * <tr><td>{@code input=CLASS#METHOD}</td><td>a method that returns the input of a step, or an {@code Iterator} or
 * {@code Iterable} of it; may be given several times</td></tr>
 * <tr><td>{@code watch=PORT|FOLDER}</td><td>offers the first loader to {@code penstock watch}</td></tr>
 * <tr><td>{@code baseline=FILE}</td><td>compares the first loader with its past</td></tr>
 * </table>
 *
 * <p>The engine must be on the class path: beside the agent's jar, or the trainer's own. Nothing that the agent does
 * fails the trainer, but for arguments that are wrong: then the process does not start.
 */
public final class TrainerAgent implements DeviceLoader.LoaderListener {

    private static final System.Logger LOG = System.getLogger(TrainerAgent.class.getName());
    private static final String PAGE = "report.html";
    /** The name of a loader that was given none. */
    private static final String UNNAMED = "penstock";

    private final Path folder;
    private final @Nullable String watch;
    private final @Nullable Path baseline;
    private final InputTransformer transformer;
    /** Guarded by this, like the next one. */
    private final Map<DeviceLoader, Diagnosed> loaders = new LinkedHashMap<>();
    private int opened;
    private int reports;

    /** A loader's name in messages, its diagnosis, and what offers it. */
    private record Diagnosed(String name, Diagnosis diagnosis, List<AutoCloseable> offers) {
    }

    private TrainerAgent(Path folder, @Nullable String watch, @Nullable Path baseline, InputTransformer transformer) {
        this.folder = folder;
        this.watch = watch;
        this.baseline = baseline;
        this.transformer = transformer;
    }

    /**
     * Begins, before the trainer's {@code main}. Called by the JVM.
     *
     * @param arguments as above; null or empty for none
     * @param instrumentation changes classes as they are loaded
     * @throws IllegalArgumentException if an argument is wrong
     */
    public static void premain(@Nullable String arguments, Instrumentation instrumentation) {
        Path folder = Path.of("penstock-run");
        String watch = null;
        Path baseline = null;
        List<Input> inputs = new ArrayList<>();
        for (String argument : (arguments == null ? "" : arguments).split(",")) {
            String value = argument.substring(argument.indexOf('=') + 1).replace("%2C", ",").replace("%25", "%");
            switch (argument.substring(0, Math.max(0, argument.indexOf('=')))) {
                case "report" -> folder = Path.of(value);
                case "watch" -> watch = value;
                case "baseline" -> baseline = Path.of(value);
                case "input" -> inputs.add(Input.parse(value));
                default -> {
                    if (!argument.isEmpty()) {
                        throw new IllegalArgumentException("found '" + argument
                                + "', expected report=, input=, watch= or baseline=");
                    }
                }
            }
        }
        var transformer = new InputTransformer(inputs);
        InputHooks.open(inputs.stream().map(Input::text).toList());
        var agent = new TrainerAgent(folder, watch, baseline, transformer);
        DeviceLoader.LoaderListener.add(agent);
        if (!inputs.isEmpty()) {
            instrumentation.addTransformer(transformer);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(agent::end, "penstock-report"));
    }

    @Override
    public synchronized void opened(DeviceLoader loader) {
        Diagnosis diagnosis = Diagnosis.of(loader);
        List<AutoCloseable> offers = new ArrayList<>();
        if (loaders.isEmpty() && reports == 0) {
            try {
                if (baseline != null) {
                    diagnosis.baseline(baseline);
                }
                if (watch != null) {
                    offers.add(offer(diagnosis, watch));
                }
            } catch (IOException | RuntimeException e) {
                LOG.log(System.Logger.Level.WARNING, "the run is not offered, or not compared: {0}", e.getMessage());
            }
        }
        opened++;
        loaders.put(loader, new Diagnosed(name(loader.info(), opened), diagnosis, offers));
    }

    /**
     * Tells loaders apart: by their number in the order in which they were opened, what else was said of them, and what
     * their batches are for.
     */
    static String name(LoaderInfo loader, int number) {
        return "loader " + number + (loader.name().equals(UNNAMED) ? "" : ", " + loader.name())
                + (loader.role() == Role.TRAIN ? "" : ", " + loader.role().name().toLowerCase(Locale.ROOT))
                + " (batches of " + loader.batchSize() + ")";
    }

    private static AutoCloseable offer(Diagnosis diagnosis, String where) throws IOException {
        return where.matches("\\d{1,5}")
                ? PrometheusEndpoint.open(Metrics.of(diagnosis.loader().info().name(), diagnosis), diagnosis::status,
                        Integer.parseInt(where))
                : StatusFile.open(diagnosis::status, diagnosis.loader().info().rank(), Path.of(where));
    }

    @Override
    public synchronized void closing(DeviceLoader loader) {
        Diagnosed closed = loaders.remove(loader);
        if (closed != null) {
            end(closed);
        }
    }

    private void end(Diagnosed loader) {
        write(loader.name, loader.diagnosis::summary);
        for (AutoCloseable offer : loader.offers) {
            try {
                offer.close();
            } catch (Exception e) {
                LOG.log(System.Logger.Level.WARNING, "closing: {0}", e.getMessage());
            }
        }
        loader.diagnosis.close();
    }

    /** The process ends. */
    private synchronized void end() {
        loaders.values().forEach(this::end);
        loaders.clear();
        transformer.missing().forEach(input -> System.err.println("penstock: found no method " + input.text()
                + " in a class that was loaded"));
        for (InputCalls input : InputHooks.inputs()) {
            write("", () -> {
                input.close();
                return input.summary();
            });
        }
    }

    /**
     * Writes a report with steps; the first into the folder itself.
     *
     * @param name the loader's; empty for another input
     */
    private void write(String name, Supplier<Summary> of) {
        try {
            Summary summary = of.get();
            if (summary.ranks().isEmpty()) {
                return;
            }
            Path to = reports == 0 ? folder : folder.resolve((reports + 1) + "-"
                    + summary.run().replaceAll("[^\\w.-]+", "-"));
            reports++;
            summary.write(to);
            AtomicFile.write(to.resolve(PAGE), HtmlReport.of(summary));
            System.err.println("penstock: " + (name.isEmpty() ? summary.run() : name) + ": "
                    + summary.findings().getFirst().verdict().label()
                    + ", report in " + to);
        } catch (IOException | RuntimeException e) {
            System.err.println("penstock: no report was written: " + e);
        }
    }
}
