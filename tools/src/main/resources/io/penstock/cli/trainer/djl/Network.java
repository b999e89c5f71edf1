package trainer;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.ndarray.types.SparseFormat;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Parameter;
import ai.djl.nn.core.Embedding;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;

/**
 * Predicts a token from the one before it: {@code i64 [batch, context]} to scores {@code f32 [batch * context,
 * tokens]}. The scores of all tokens are the product of a matrix and the vector of the token at hand. A stand-in for a
 * network of your own.
 */
final class Network extends AbstractBlock {

    private final int tokens;
    private final int width;
    private final Parameter inputs;
    private final Parameter outputs;

    Network(int tokens, int width) {
        this.tokens = tokens;
        this.width = width;
        this.inputs = addParameter(Parameter.builder().setName("inputs").setType(Parameter.Type.WEIGHT).build());
        this.outputs = addParameter(Parameter.builder().setName("outputs").setType(Parameter.Type.WEIGHT).build());
    }

    @Override
    protected void prepare(Shape[] inputShapes) {
        inputs.setShape(new Shape(tokens, width));
        outputs.setShape(new Shape(tokens, width));
    }

    @Override
    protected NDList forwardInternal(ParameterStore store, NDList in, boolean training,
            PairList<String, Object> params) {
        NDArray ids = in.singletonOrThrow();
        NDArray table = store.getValue(inputs, ids.getDevice(), training);
        NDArray vectors = Embedding.embedding(ids, table, SparseFormat.DENSE).singletonOrThrow().reshape(-1, width);
        return new NDList(vectors.matMul(store.getValue(outputs, ids.getDevice(), training).transpose()));
    }

    @Override
    public Shape[] getOutputShapes(Shape[] inputShapes) {
        return new Shape[] {new Shape(inputShapes[0].size(), tokens)};
    }
}
