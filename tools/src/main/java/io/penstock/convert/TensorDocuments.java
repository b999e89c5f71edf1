// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An integer tensor as documents: the rows of a matrix. A vector is one document, unless the tensor
 * {@code document_starts} beside it gives the starts of documents.
 */
final class TensorDocuments implements DocumentSource {

    private final TensorStore store;
    private final int tensor;
    private final TensorSpec spec;
    /** Each document's start, and the last one's end; null if documents are rows or there is only one. */
    private final @Nullable Tensor starts;
    private final Span span = new Span();

    private TensorDocuments(TensorStore store, int tensor, @Nullable Tensor starts) {
        this.store = store;
        this.tensor = tensor;
        this.spec = store.tensors().get(tensor);
        this.starts = starts;
    }

    static boolean areIn(TensorSpec spec) {
        return spec.dtype().isInteger() && (spec.rank() == 1 || spec.rank() == 2);
    }

    static TensorDocuments of(Conversion conversion, TensorStore store) throws IOException {
        List<TensorSpec> specs = store.tensors();
        List<String> names = specs.stream().map(TensorSpec::name).toList();
        int starts = names.indexOf(TensorTarget.DOCUMENT_STARTS);
        int tokens = names.indexOf(TensorTarget.TOKENS);
        boolean ours = conversion.fields == null && starts >= 0 && tokens >= 0
                && specs.get(tokens).rank() == 1 && specs.get(starts).rank() == 1
                && specs.get(starts).dtype() == DType.I64;
        int tensor = ours ? tokens : TensorTarget.theOne(conversion, store, TensorDocuments::areIn,
                "a tensor of integers of one or two dimensions");
        if (!areIn(specs.get(tensor))) {
            throw new ConversionException("found " + specs.get(tensor)
                    + ", expected a tensor of integers of one or two dimensions");
        }
        List<String> left = names.stream().filter(name -> !name.equals(names.get(tensor))
                && !(ours && name.equals(TensorTarget.DOCUMENT_STARTS))).toList();
        conversion.lose("tensors", left);
        StoreDetails.of(store).lose(conversion, false);
        if (!ours && !names.get(tensor).isEmpty()) {
            conversion.lose("name: " + names.get(tensor));
        }
        TensorDocuments documents = new TensorDocuments(store, tensor, ours ? store.tensor(starts) : null);
        documents.checkStarts();
        return documents;
    }

    private void checkStarts() {
        if (starts == null) {
            return;
        }
        long last = starts.elementCount() - 1;
        boolean whole = last >= 0 && starts.getLong(0) == 0 && starts.getLong(last) == spec.dim(0);
        for (long d = 0; whole && d < last; d++) {
            whole = starts.getLong(d) <= starts.getLong(d + 1);
        }
        if (!whole) {
            throw new ConversionException(TensorTarget.DOCUMENT_STARTS + ": found positions that do not ascend from 0 "
                    + "to the " + spec.dim(0) + " of " + spec + " (to convert one tensor alone, select it with"
                    + " fields)");
        }
    }

    @Override
    public DType dtype() {
        return spec.dtype();
    }

    @Override
    public long count() {
        return starts != null ? starts.elementCount() - 1 : spec.rank() == 1 ? 1 : spec.dim(0);
    }

    @Override
    public long tokens() {
        return spec.byteSize() / spec.dtype().byteSize();
    }

    @Override
    public void read(long document, Sink sink) throws IOException {
        if (spec.rank() == 2) {
            store.locate(tensor, document, 1, span);
            sink.accept(span);
            return;
        }
        long end = starts == null ? spec.dim(0) : starts.getLong(document + 1);
        long step = Reading.STEP_BYTES / spec.dtype().byteSize();
        for (long at = starts == null ? 0 : starts.getLong(document); at < end; at += step) {
            store.locate(tensor, at, Math.min(step, end - at), span);
            sink.accept(span);
        }
    }
}
