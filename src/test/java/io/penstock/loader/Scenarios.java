// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.device.Device;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.device.cuda.CudaSimulator.Kind;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Runs scenarios over the simulated CUDA runtime, many in one JVM: each is a static method that throws if it fails.
 * Whatever it does, it also fails if the simulation has seen a violation, or if something stays open or runs on.
 */
public final class Scenarios {
    private static final long HANG_MILLIS = 600_000;

    /** This thread may hang in the driver, so nobody waits for its end. */
    private static final String UNAWAITED = "penstock-nvml";

    private Scenarios() {
    }

    /** What became of one. */
    record Outcome(String name, long millis, Throwable error) {
    }

    /**
     * Runs all scenarios of classes, and prints a line for each outcome: {@code ## name ok} or {@code ## name failed},
     * followed by the reason.
     *
     * @param classes their names; those of some methods alone behind a {@code #}, separated by commas
     * @throws Exception if a class cannot be loaded
     */
    public static void main(String[] classes) throws Exception {
        Device.cuda(0).close();
        for (String name : classes) {
            for (Method scenario : named(name)) {
                print(run(scenario, HANG_MILLIS));
            }
        }
        System.exit(0);                                 // not held up by threads that a failed one has left
    }

    /** The argument for some scenarios of a class. */
    public static String some(Class<?> type, String... methods) {
        return type.getName() + "#" + String.join(",", methods);
    }

    private static List<Method> named(String name) throws ReflectiveOperationException {
        String[] words = name.split("[#,]");
        Class<?> type = Class.forName(words[0]);
        if (words.length == 1) {
            return of(type);
        }
        List<Method> methods = new ArrayList<>();
        for (String method : Arrays.asList(words).subList(1, words.length)) {
            methods.add(type.getDeclaredMethod(method));
        }
        return methods;
    }

    static List<Method> of(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(m -> Modifier.isStatic(m.getModifiers()) && !Modifier.isPrivate(m.getModifiers())
                        && !m.isSynthetic() && m.getParameterCount() == 0)
                .sorted(Comparator.comparing(Method::getName)).toList();
    }

    static void print(Outcome outcome) {
        System.out.println("## " + outcome.name() + (outcome.error() == null ? " ok " : " failed ") + outcome.millis());
        if (outcome.error() != null) {
            System.out.println(text(outcome.error()));
        }
        System.out.flush();
    }

    static String text(Throwable error) {
        var text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    static Outcome run(Method scenario, long hangMillis) throws InterruptedException {
        CudaSimulator.reset();
        int[] before = open();
        long begin = System.nanoTime();
        var error = new AtomicReference<Throwable>();
        Thread thread = Thread.ofPlatform().name("scenario").daemon().start(() -> {
            try {
                scenario.setAccessible(true);
                scenario.invoke(null);
                checkNothingIsLeft(before);
            } catch (InvocationTargetException e) {
                error.set(e.getCause());
            } catch (Throwable t) {
                error.set(t);
            }
        });
        thread.join(hangMillis);
        if (thread.isAlive()) {
            error.set(new AssertionError("hangs:\n" + stacks()));
            CudaSimulator.holdCopies(false);
        }
        if (CudaSimulator.violations() > 0) {
            var violation = new AssertionError("violation: " + CudaSimulator.violationText());
            if (error.get() != null) {
                violation.addSuppressed(error.get());
            }
            error.set(violation);
        }
        return new Outcome(scenario.getName(), (System.nanoTime() - begin) / 1_000_000, error.get());
    }

    private static int[] open() {
        return Arrays.stream(Kind.values()).mapToInt(CudaSimulator::open).toArray();
    }

    /** Nothing that was not there before; a scenario may ask it of itself at any time. */
    static void checkNothingIsLeft(int[] before) {
        checkNothingIsLeft(before, "");
    }

    private static void checkNothingIsLeft(int[] before, String open) {
        int[] after = open();
        if (!Arrays.equals(before, after)) {
            throw new AssertionError("open before: " + Arrays.toString(before) + ", afterwards: "
                    + Arrays.toString(after) + " of " + Arrays.toString(Kind.values()));
        }
        List<String> threads = Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
                .filter(name -> name.startsWith("penstock") && !name.equals(open) && !name.equals(UNAWAITED)).toList();
        if (!threads.isEmpty()) {
            throw new AssertionError("still running: " + threads);
        }
    }

    static void checkNothingIsOpen() {
        checkNothingIsLeft(new int[Kind.values().length]);
    }

    /** The same of a device that is still open, and so has its thread. */
    static void checkNothingIsOpenOn(Device device) {
        checkNothingIsLeft(new int[Kind.values().length], "penstock " + device.name());
    }

    private static String stacks() {
        var text = new StringBuilder();
        Thread.getAllStackTraces().forEach((thread, frames) -> {
            text.append(thread.getName()).append('\n');
            Arrays.stream(frames).limit(12).forEach(frame -> text.append("    ").append(frame).append('\n'));
        });
        return text.toString();
    }
}
