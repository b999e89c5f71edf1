// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.util.Progress;
import io.penstock.loader.DataLoader;
import io.penstock.memory.TensorSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A DJL dataset over a loader: for {@code EasyTrain.fit}, and for loops of your own.
 *
 * {@snippet :
 * Dataset training = PenstockDataset.of(loader).data("input_ids").labels("labels");
 * EasyTrain.fit(trainer, 3, training, null);
 * }
 *
 * <p>Each {@link #getData} gives one epoch: the rest of the loader's current epoch, then the next ones. So a loader
 * that {@linkplain io.penstock.loader.DataLoaderBuilder#resume resumed} begins in the middle of its epoch. The order,
 * the batch size and the threads are those of the loader; DJL's executor is not used.
 *
 * <p><b>Memory.</b> An NDArray is an <em>alias</em>: it has the address of the loader's slot, and no byte is copied.
 * Closing DJL's batch frees its NDArrays first and then returns the slot. An NDArray that you attached to another
 * manager before gets a copy of its own at that moment. A view of it (a slice, a reshape, a transpose) does not: it
 * would show the slot's next batch. If you keep such views, or NDArrays after the loader is closed, use
 * {@link #copied}.
 *
 * <p>Under {@link io.penstock.loader.LeaseMode#REUSED} a slot's next batch has the same NDArray objects, over tensors
 * of its own, so a batch costs few bytes of heap. An NDArray of a closed batch throws until its slot is lent again;
 * then it is that later batch's.
 *
 * <p><b>Types.</b> DJL names eight of torch's types: {@code f16 f32 f64 u8 i8 i32 i64 bool}. Torch widens the others
 * into memory of its own: {@code u16} and {@code i16} to {@code INT32}, {@code u32} to {@code INT64}, {@code bf16} and
 * the 8-bit floats to {@code FLOAT32}. {@code u64} has no wider type and is refused, unless {@link #as} names one.
 *
 * <p><b>Threads.</b> A dataset is immutable. Its batches come on one thread at a time, and the thread that took a batch
 * closes it, unless the loader has {@linkplain io.penstock.loader.LeaseMode#SHARED shared leases} or the batch is
 * copied.
 */
public final class PenstockDataset implements Dataset {

    private final DataLoader loader;
    private final @Nullable List<String> data;
    private final List<String> labels;
    private final Map<String, DataType> types;
    private final boolean isCopied;
    private final boolean isTrimmed;

    private PenstockDataset(DataLoader loader, @Nullable List<String> data, List<String> labels,
            Map<String, DataType> types, boolean isCopied, boolean isTrimmed) {
        this.loader = loader;
        this.data = data;
        this.labels = labels;
        this.types = types;
        this.isCopied = isCopied;
        this.isTrimmed = isTrimmed;
    }

    /**
     * A dataset whose data are all fields of the loader's batches, without labels.
     *
     * @param loader the loader, which the caller closes when no batch is in use
     * @return the dataset
     */
    public static PenstockDataset of(DataLoader loader) {
        return new PenstockDataset(Objects.requireNonNull(loader, "loader"), null, List.of(), Map.of(), false, false);
    }

    /**
     * Sets what a batch's {@code getData()} holds. Default: all fields that are not labels.
     *
     * @param fields one name or more, in the order of the NDList
     * @return a dataset with this setting
     * @throws IllegalArgumentException if the loader has no such field
     */
    public PenstockDataset data(String... fields) {
        if (fields.length == 0) {
            throw new IllegalArgumentException("data: no field named, expected one or more of " + names());
        }
        return new PenstockDataset(loader, known("data", fields), labels, types, isCopied, isTrimmed);
    }

    /**
     * Sets what a batch's {@code getLabels()} holds. Default: nothing; {@code EasyTrain} needs at least one.
     *
     * @param fields names, in the order of the NDList
     * @return a dataset with this setting
     * @throws IllegalArgumentException if the loader has no such field
     */
    public PenstockDataset labels(String... fields) {
        return new PenstockDataset(loader, data, known("labels", fields), types, isCopied, isTrimmed);
    }

    /**
     * Sets the type of a field's NDArrays. Torch converts the values, into memory of its own; integers that do not fit
     * wrap around.
     *
     * @param field the field
     * @param type one that DJL's PyTorch engine names: FLOAT16, FLOAT32, FLOAT64, UINT8, INT8, INT32, INT64 or BOOLEAN
     * @return a dataset with this setting
     * @throws IllegalArgumentException if the loader has no such field, or the engine does not name the type
     */
    public PenstockDataset as(String field, DataType type) {
        known("as", field);
        if (!ArrayTypes.isNamed(type)) {
            throw new IllegalArgumentException("as: " + field + ": found " + type + ", which DJL's PyTorch engine"
                    + " cannot name; expected one of " + ArrayTypes.NAMED);
        }
        Map<String, DataType> changed = new LinkedHashMap<>(types);
        changed.put(field, type);
        return new PenstockDataset(loader, data, labels, Map.copyOf(changed), isCopied, isTrimmed);
    }

    /**
     * Copies all fields into memory of torch. The slot is returned before you get the batch, so NDArrays live as long
     * as you like, any number of batches may be open, and any thread may close them.
     *
     * @return a dataset with this setting
     */
    public PenstockDataset copied() {
        return new PenstockDataset(loader, data, labels, types, true, isTrimmed);
    }

    /**
     * Leaves out rows that carry no weight: under {@link io.penstock.sampling.TailPolicy#EXACT} those that repeat
     * samples at an epoch's end, and skipped bad samples. So an evaluation counts each sample once. A batch may then
     * have fewer rows than others; one without any such row is left out. The first dimension of each field must be the
     * batch's rows.
     *
     * @return a dataset with this setting
     */
    public PenstockDataset validRows() {
        return new PenstockDataset(loader, data, labels, types, isCopied, true);
    }

    /**
     * The rest of the loader's epoch, or the next epoch at the end of one. A batch's progress counts batches of the
     * epoch; after resuming in the middle of an epoch with a token budget it is a lower bound.
     *
     * @param manager a manager of the PyTorch engine; each batch has a manager of its own below it
     * @return the batches, to be closed by the caller; may be iterated once. If this manager is closed before, it
     *     closes them
     * @throws IllegalArgumentException if the manager is of another engine, or has no such device as the loader
     * @throws IllegalStateException if the loader has given its last epoch
     * @throws UnsupportedOperationException if a field cannot be an NDArray
     */
    @Override
    public Iterable<Batch> getData(NDManager manager) {
        if (!(manager instanceof PtNDManager torch)) {
            throw new IllegalArgumentException("manager: found a " + manager.getClass().getName()
                    + ", expected one of DJL's PyTorch engine");
        }
        Torch.require();
        Device device = device(torch);
        if (!loader.hasNext()) {
            throw new IllegalStateException("loader '" + loader.info().name() + "' has given its last epoch, "
                    + (loader.currentEpoch() - 1) + "; set a later endEpoch, or seek");
        }
        List<TensorSpec> all = loader.layout().fields();
        List<String> inputs = data != null ? data
                : all.stream().map(TensorSpec::name).filter(name -> !labels.contains(name)).toList();
        if (inputs.isEmpty()) {
            throw new IllegalArgumentException("data: all fields are labels " + labels
                    + ", expected one or more others");
        }
        List<ArrayMaker> dataMakers = inputs.stream().map(name -> maker(name, device)).toList();
        List<ArrayMaker> labelMakers = labels.stream().map(name -> maker(name, device)).toList();
        return () -> new EpochBatches(loader, torch, device, dataMakers, labelMakers, isTrimmed);
    }

    /** Does nothing: the loader was opened ready. */
    @Override
    public void prepare(@Nullable Progress progress) {
    }

    /** Where the loader's batches are, as DJL names it. */
    private Device device(PtNDManager manager) {
        io.penstock.device.Device device = loader.device();
        if (device.hostAccessible()) {
            return Device.cpu();
        }
        int gpus = manager.getEngine().getGpuCount();
        if (device.ordinal() >= gpus) {
            throw new IllegalArgumentException("loader '" + loader.info().name() + "' puts batches on " + device.name()
                    + ", but DJL's PyTorch has " + gpus + " GPUs; use a PyTorch for CUDA, or a loader on the host");
        }
        return Device.gpu(device.ordinal());
    }

    private ArrayMaker maker(String name, Device device) {
        TensorSpec spec = loader.layout().fields().stream().filter(field -> field.name().equals(name)).findFirst()
                .orElseThrow();
        DataType type = types.get(name);
        return new ArrayMaker(spec, type != null ? type : ArrayTypes.of(spec), device, isCopied, isTrimmed);
    }

    private List<String> known(String what, String... fields) {
        Set<String> names = names();
        Set<String> named = new LinkedHashSet<>();
        for (String field : fields) {
            if (!names.contains(field)) {
                throw new IllegalArgumentException(what + ": no field '" + field + "' in batches of loader '"
                        + loader.info().name() + "', expected one of " + names);
            }
            if (!named.add(field)) {
                throw new IllegalArgumentException(what + ": field '" + field + "' named twice");
            }
        }
        return new ArrayList<>(named);
    }

    private Set<String> names() {
        return loader.layout().fields().stream().map(TensorSpec::name)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** For example {@code PenstockDataset[data=[input_ids], labels=[labels], copied]}. */
    @Override
    public String toString() {
        return "PenstockDataset[data=" + (data == null ? "the rest" : data) + ", labels=" + labels
                + (isCopied ? ", copied" : "") + (isTrimmed ? ", valid rows" : "") + "]";
    }
}
