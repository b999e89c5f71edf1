// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import io.penstock.device.cuda.CudaSimulator;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/**
 * Proof that the scenarios bite: the loader with one step of its protocol taken out of its byte code must make the
 * scenario fail that is named beside it. Each mutant is the whole package, loaded anew.
 */
public final class MutantScenarios {

    /**
     * What stands in for the result of the call that is taken out; FIRST makes the call with 0 for its argument.
     * OTHER_STREAM stands in for a field of that name: another stream of the same device.
     */
    private enum Instead { NOTHING, TRUE, ONE, RECEIVER, FIRST, DEFAULT_STREAM, OTHER_STREAM }

    /**
     * A step that is missing.
     *
     * @param name what is missing
     * @param type the class that makes the call: its full name, or that below this package
     * @param method the method that makes it
     * @param call the method that is not called, or at another's place
     * @param occurrence which of these calls, from 0; -1 for all
     * @param instead its result
     * @param other the method of the same parameters that is called at its place, and it at that one's; or null
     * @param scenario what must fail
     */
    private record Mutant(String name, String type, String method, String call, int occurrence, Instead instead,
            String other, String scenario) {

        Mutant(String name, String type, String method, String call, int occurrence, Instead instead,
                String scenario) {
            this(name, type, method, call, occurrence, instead, null, scenario);
        }

        /** Two steps in the wrong order. */
        static Mutant exchanged(String name, String type, String method, String call, String other, String scenario) {
            return new Mutant(name, type, method, call, -1, null, other, scenario);
        }
    }

    private static final int SLOWEST = 512;
    /** A mutant may make its scenario hang, which is to be noticed too. */
    private static final long HANG_MILLIS = 30_000;

    private static final List<Mutant> MUTANTS = List.of(
            new Mutant("the E_host query is dropped", "slots.CopyThread", "retire", "isComplete", -1, Instead.TRUE,
                    "aHostSlotIsNotFilledWhileItsCopyReadsIt"),
            new Mutant("times are read before the copy behind them has ended", "slots.CopyThread", "retire",
                    "isComplete", -1, Instead.TRUE, "theDevicesClockTellsWhatEachBatchTook"),
            new Mutant("times are read before the trainer's work is known to have ended", "slots.CopyThread",
                    "waitForReaders", "waitFor", -1, Instead.NOTHING, "theDevicesClockTellsWhatEachBatchTook"),
            new Mutant("phases are marked behind the close", "slots.CopyDelivery", "release", "endMarks", -1,
                    Instead.NOTHING, "marksEndWhenTheBatchIsClosed"),
            new Mutant("E_host is not waited for on a move", "slots.CopyThread", "retireAll", "synchronize", -1,
                    Instead.NOTHING, "aHostSlotIsNotFilledBySeekWhileItsCopyReadsIt"),
            new Mutant("E_host is not recorded", "slots.CopyThread", "copy", "record", -1, Instead.NOTHING,
                    "aHostSlotIsNotFilledWhileItsCopyReadsIt"),
            new Mutant("the E_used wait is dropped", "slots.CopyThread", "waitForReaders", "waitFor", -1,
                    Instead.NOTHING,
                    "aDeviceSlotIsNotOverwrittenBeforeItsReaderHasRead"),
            new Mutant("E_used is not recorded", "slots.CopyDelivery", "release", "record", -1, Instead.NOTHING,
                    "aDeviceSlotIsNotOverwrittenBeforeItsReaderHasRead"),
            new Mutant("one E_used for all streams", "slots.CopyDelivery", "release", "streamCount", -1, Instead.ONE,
                    "aBatchThatSeveralStreamsUseWaitsForAllOfThem"),
            new Mutant("the E_ready wait of a stream is dropped", "slots.CopyDelivery", "lend", "waitFor", -1,
                    Instead.NOTHING, "aStreamThatTakesABatchWaitsForItsBytes"),
            new Mutant("the E_ready wait of the host is dropped", "slots.CopyDelivery", "lend", "synchronize", -1,
                    Instead.NOTHING, "aBatchWithoutAStreamIsThereWhenItIsReturned"),
            new Mutant("E_ready is not recorded", "slots.CopyThread", "markReady", "record", -1, Instead.NOTHING,
                    "aStreamThatTakesABatchWaitsForItsBytes"),
            new Mutant("a stream that is named later does not wait", "slots.Lease", "usedOn", "makeWait", -1,
                    Instead.NOTHING, "aStreamThatIsNamedLaterWaitsForTheBytesToo"),
            new Mutant("a batch is released at every close", "slots.Lease", "close", "compareAndSet", -1, Instead.TRUE,
                    "aBatchIsReleasedOnceHoweverOftenItIsClosed"),
            new Mutant("work behind closed batches is not waited for at the end", "slots.CopyDelivery",
                    "waitForAll", "step", 1, Instead.RECEIVER,
                    "closingTheLoaderWaitsForWorkThatBatchesWereClosedBehind"),
            new Mutant("a DLPack consumer's stream does not wait", "slots.CopyDelivery", "makeConsumerWait",
                    "usedOn", -1, Instead.NOTHING, "aConsumersStreamWaitsForTheBytes"),
            new Mutant("a DLPack tensor does not hold its slot", "Batch", "toDLPack", "hold", -1,
                    Instead.NOTHING, "aSlotTakesNoOtherBatchBeforeItsTensorsAreDeleted"),
            Mutant.exchanged("a stage is enqueued before the copy", "slots.CopyThread", "submit", "copy", "runStages",
                    "aStreamThatTakesABatchWaitsForTheStages"),
            new Mutant("a stage is enqueued on another stream", "slots.CopyThread", "runStages", "copyStream", 0,
                    Instead.OTHER_STREAM, "aStreamThatTakesABatchWaitsForTheStages"),
            Mutant.exchanged("E_ready is recorded before the stages", "slots.CopyThread", "submit", "runStages",
                    "markReady", "aStreamThatTakesABatchWaitsForTheStages"),
            Mutant.exchanged("a stage is enqueued before the E_used wait", "slots.CopyThread", "submit",
                    "waitForReaders", "runStages", "anOutputIsNotOverwrittenBeforeItsReaderHasRead"),
            new Mutant("the E_used wait is dropped before a stage", "slots.CopyThread", "waitForReaders", "waitFor",
                    -1, Instead.NOTHING, "anOutputIsNotOverwrittenBeforeItsReaderHasRead"),
            new Mutant("stages are closed while they run", "slots.CopyDelivery", "waitForAll", "step", 0,
                    Instead.RECEIVER, "stagesAreClosedWhenTheirWorkHasEnded"),
            new Mutant("stages are closed after the memory of the slots", "slots.CopyDelivery", "close", "step",
                    1, Instead.RECEIVER, "stagesAreClosedBeforeTheMemoryOfTheSlots"),
            Mutant.exchanged("the copy thread is not exempt from captures", "slots.CopyThread", "serve",
                    "dedicateThread", "makeCurrent", "aGraphThatIsCapturedOnceASlotReadsEveryBatchInThatSlot"),
            new Mutant("every loader is given the slots of the first device", "DeviceLoader", "open", "get", -1,
                    Instead.FIRST, "theLoadersOfSeveralDevicesKeepToTheirDevicesAndGiveEachSampleOnce"),
            new Mutant("every device is given the batches of the first rank", "DeviceLoader", "open", "ofRank", -1,
                    Instead.FIRST, "theLoadersOfSeveralDevicesKeepToTheirDevicesAndGiveEachSampleOnce"));

    /** Of decoding on the device; these need nvJPEG. */
    private static final List<Mutant> JPEG_MUTANTS = List.of(
            new Mutant("the host does not wait before it decodes", Loader.NVJPEG + "OpenJpegs", "enqueue",
                    "synchronize", -1, Instead.NOTHING, "theEngineDoesNotOverwriteImagesWhoseResultsAreNotMade"),
            new Mutant("the end of reading decoded images is not recorded", Loader.NVJPEG + "OpenJpegs", "enqueue",
                    "record", -1, Instead.NOTHING, "theEngineDoesNotOverwriteImagesWhoseResultsAreNotMade"),
            Mutant.exchanged("results are made before the decoding", Loader.NVJPEG + "OpenJpegs", "enqueue", "decode",
                    "makeResults", "resultsAreMadeBehindTheirDecoding"),
            new Mutant("a batch is decoded on another stream", Loader.NVJPEG + "NvJpeg", "decodeBatch", "handle", -1,
                    Instead.DEFAULT_STREAM, "resultsAreMadeBehindTheirDecoding"),
            new Mutant("a file is decoded on another stream", Loader.NVJPEG + "NvJpeg", "decodeSingle", "handle", -1,
                    Instead.DEFAULT_STREAM, "resultsAreMadeBehindTheirDecoding"),
            Mutant.exchanged("a host slot is free when its copy has ended", "slots.CopyThread", "retire", "readEvent",
                    "hostEvent", "aHostSlotIsNotFilledWhileItsFilesAreDecoded"));

    private MutantScenarios() {
    }

    /**
     * Runs every mutant, and prints a line for each: ok if it was caught.
     *
     * @param arguments {@code jpeg} for those of decoding on the device
     * @throws Exception if a mutant cannot be made
     */
    public static void main(String[] arguments) throws Exception {
        Device.cuda(0).close();
        boolean isJpeg = List.of(arguments).contains("jpeg");
        for (Mutant mutant : isJpeg ? JPEG_MUTANTS : MUTANTS) {
            Loader loader = new Loader(mutant);
            List<Method> scenarios = new ArrayList<>();
            for (String name : isJpeg ? List.of("JpegScenarios") : List.of("TransferScenarios", "DLPackScenarios",
                    "StageScenarios", "ClockScenarios", "MultiDeviceScenarios", "GraphScenarios")) {
                scenarios.addAll(Scenarios.of(loader.loadClass(Loader.PACKAGE + name)));
            }
            Method scenario = scenarios.stream().filter(m -> m.getName().equals(mutant.scenario))
                    .findFirst().orElseThrow();
            Scenarios.Outcome outcome = provoked(scenario);
            CudaSimulator.reset();
            if (outcome.error() != null) {
                System.out.println(mutant.name + ": " + outcome.error().toString().lines().limit(2).toList());
            }
            Scenarios.print(new Scenarios.Outcome(mutant.name, outcome.millis(), outcome.error() != null ? null
                    : new AssertionError(mutant.scenario + " did not notice")));
        }
        System.exit(0);
    }

    /**
     * What a missing step leaves open is seen if somebody comes through it in time. On a busy machine nobody may, so
     * copies and kernels take longer and longer until somebody has.
     */
    private static Scenarios.Outcome provoked(Method scenario) throws InterruptedException {
        Scenarios.Outcome outcome = null;
        for (int slowness = 1; slowness <= SLOWEST && (outcome == null || outcome.error() == null); slowness *= 8) {
            CudaSimulator.slowDown(slowness);
            outcome = Scenarios.run(scenario, HANG_MILLIS);
        }
        CudaSimulator.slowDown(1);
        return outcome;
    }

    /**
     * Defines this package, those below it, diagnosis, which takes loaders, and nvJPEG, with the mutant in it; the rest
     * is its parent's.
     */
    private static final class Loader extends ClassLoader {
        private static final String PACKAGE = "io.penstock.loader.";
        private static final String NVJPEG = "io.penstock.image.nvjpeg.";
        private static final String DIAGNOSIS = "io.penstock.diagnose.";
        private final Mutant mutant;

        Loader(Mutant mutant) {
            super(MutantScenarios.class.getClassLoader());
            this.mutant = mutant;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(PACKAGE) && !name.startsWith(NVJPEG) && !name.startsWith(DIAGNOSIS)) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                if (name.equals(mutant.type) || name.equals(PACKAGE + mutant.type)) {
                    bytes = mutate(bytes);
                }
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }

        private byte[] mutate(byte[] original) {
            ClassFile format = ClassFile.of();
            int[] found = {0};
            byte[] mutated = format.transformClass(format.parse(original), ClassTransform.transformingMethodBodies(
                    method -> method.methodName().equalsString(mutant.method),
                    (code, element) -> {
                        if (element instanceof InvokeInstruction call && call.name().equalsString(mutant.call)
                                && (mutant.occurrence < 0 | mutant.occurrence == found[0]++)) {
                            if (mutant.other != null) {
                                call(mutant.other, code, call);
                            } else {
                                leaveOut(code, call);
                            }
                        } else if (element instanceof InvokeInstruction call
                                && call.name().equalsString(String.valueOf(mutant.other))) {
                            call(mutant.call, code, call);
                        } else if (element instanceof FieldInstruction field && mutant.instead == Instead.OTHER_STREAM
                                && field.name().equalsString(mutant.call) && mutant.occurrence == found[0]++) {
                            otherStream(code, field);
                        } else {
                            code.with(element);
                        }
                    }));
            if (found[0] <= Math.max(0, mutant.occurrence)) {
                throw new AssertionError(mutant + ": there is no such call");
            }
            return mutated;
        }

        private static void call(String name, CodeBuilder code, InvokeInstruction instead) {
            code.invoke(instead.opcode(), instead.owner().asSymbol(), name, instead.typeSymbol(),
                    instead.isInterface());
        }

        /** Loads a stream of the device that is in a field beside the one that is loaded. */
        private static void otherStream(CodeBuilder code, FieldInstruction instead) {
            ClassDesc device = ClassDesc.of(Device.class.getName());
            code.getfield(instead.owner().asSymbol(), "device", device);
            code.loadConstant(2L);
            code.invokeinterface(device, "stream", MethodTypeDesc.of(ClassDesc.of(DeviceStream.class.getName()),
                    ConstantDescs.CD_long));
        }

        /** Takes the arguments off the stack, or exchanges the only one, and puts what stands in for the result. */
        private void leaveOut(CodeBuilder code, InvokeInstruction call) {
            if (mutant.instead == Instead.FIRST) {
                code.pop();
                code.iconst_0();
                code.with(call);
                return;
            }
            for (ClassDesc argument : call.typeSymbol().parameterList().reversed()) {
                if (TypeKind.from(argument).slotSize() == 2) {
                    code.pop2();
                } else {
                    code.pop();
                }
            }
            if (mutant.instead != Instead.RECEIVER) {
                code.pop();
            }
            if (mutant.instead == Instead.DEFAULT_STREAM) {
                code.loadConstant(2L);
            }
            if (mutant.instead == Instead.TRUE || mutant.instead == Instead.ONE) {
                code.iconst_1();
            }
        }
    }
}
