package trainer;

import java.util.LinkedHashMap;
import java.util.Map;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;

/**
 * Predicts a token from the one before it: {@code i64 [batch, context]} to scores {@code f32 [batch * context,
 * tokens]}. The scores of all tokens are the product of a matrix and the vector of the token at hand. A stand-in for a
 * network of your own.
 */
final class Network {

    private final int width;
    private final Map<String, Tensor> tensors = new LinkedHashMap<>();

    /** Made outside of every scope, so that none frees its tensors. */
    Network(int tokens, int width) {
        this.width = width;
        for (String name : new String[] {"inputs", "outputs"}) {
            tensors.put(name, torch.randn(tokens, width).mul_(new Scalar(0.1f)).set_requires_grad(true));
        }
    }

    /** The weights by name, for checkpoints. */
    Map<String, Tensor> tensors() {
        return tensors;
    }

    TensorVector parameters() {
        return new TensorVector(tensors.values().toArray(Tensor[]::new));
    }

    Tensor forward(Tensor ids) {
        Tensor vectors = torch.embedding(tensors.get("inputs"), ids).view(-1, width);
        return torch.matmul(vectors, tensors.get("outputs").t());
    }
}
