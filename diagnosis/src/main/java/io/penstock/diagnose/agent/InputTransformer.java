// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.agent;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Adds calls of {@link InputHooks} to the methods that give a trainer its input, when their classes are loaded: one at
 * the method's begin and one before each return. A method that returns an {@code Iterator} or {@code Iterable} has its
 * result wrapped instead. Of a class with a method {@code next}, {@code hasNext} counts too. A changed method has the
 * same frames as before, so no other class needs to be looked at.
 */
final class InputTransformer implements ClassFileTransformer {

    private static final System.Logger LOG = System.getLogger(InputTransformer.class.getName());
    private static final ClassDesc HOOKS = ClassDesc.of("io.penstock.diagnose.agent.InputHooks");
    private static final ClassDesc ITERATOR = ClassDesc.of("java.util.Iterator");
    private static final ClassDesc ITERABLE = ClassDesc.of("java.lang.Iterable");
    private static final MethodTypeDesc TOLD = MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int);
    private static final MethodTypeDesc ASKED = MethodTypeDesc.of(ConstantDescs.CD_int, ConstantDescs.CD_int,
            ConstantDescs.CD_int);

    /**
     * A method that gives input.
     *
     * @param text as it was written
     * @param owner the class's internal name: {@code com/acme/Data}
     * @param method the method's name
     */
    record Input(String text, String owner, String method) {

        /** Reads {@code com.acme.Data#next}. */
        static Input parse(String text) {
            int at = text.indexOf('#');
            if (at < 1 || at == text.length() - 1 || text.indexOf('#', at + 1) >= 0 || text.indexOf('/') >= 0) {
                throw new IllegalArgumentException("input: found '" + text + "', expected CLASS#METHOD, such as"
                        + " com.acme.Data#next");
            }
            return new Input(text, text.substring(0, at).replace('.', '/'), text.substring(at + 1));
        }

        private boolean isNext() {
            return method.equals("next");
        }
    }

    private final List<Input> inputs;
    private final Set<Input> found = ConcurrentHashMap.newKeySet();

    InputTransformer(List<Input> inputs) {
        this.inputs = List.copyOf(inputs);
    }

    /** The inputs of which no method was seen. */
    List<Input> missing() {
        List<Input> missing = new ArrayList<>(inputs);
        missing.removeAll(found);
        return missing;
    }

    @Override
    public byte @Nullable [] transform(@Nullable ClassLoader loader, String name, @Nullable Class<?> redefined,
            @Nullable ProtectionDomain domain, byte[] bytes) {
        byte[] changed = null;
        for (int i = 0; i < inputs.size(); i++) {
            if (inputs.get(i).owner.equals(name)) {
                changed = change(inputs.get(i), i, loader, changed == null ? bytes : changed);
            }
        }
        return changed;
    }

    /** Returns the class as it was if it cannot be changed: the trainer must run. */
    private byte[] change(Input input, int number, @Nullable ClassLoader loader, byte[] bytes) {
        try {
            ClassHierarchyResolver known = ClassHierarchyResolver.defaultResolver();
            ClassFile file = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(loader == null ? known
                    : ClassHierarchyResolver.ofResourceParsing(loader).orElse(known)));
            return file.transformClass(file.parse(bytes), (made, element) -> {
                if (element instanceof MethodModel method && isTimed(input, method)) {
                    made.transformMethod(method, MethodTransform.transformingCode(new Timing(input, number, method)));
                } else {
                    made.with(element);
                }
            });
        } catch (IllegalArgumentException e) {
            LOG.log(System.Logger.Level.WARNING, "{0} cannot be timed: {1}", input.text, e.getMessage());
            return bytes;
        }
    }

    /** A bridge calls the method proper. */
    private boolean isTimed(Input input, MethodModel method) {
        boolean is = (method.flags().flagsMask() & ClassFile.ACC_BRIDGE) == 0 && method.code().isPresent()
                && (method.methodName().equalsString(input.method)
                || input.isNext() && asks(method));
        if (is) {
            found.add(input);
        }
        return is;
    }

    private static boolean asks(MethodModel method) {
        return method.methodName().equalsString("hasNext") && method.methodType().equalsString("()Z");
    }

    /** Tells the hooks of one method. */
    private static final class Timing implements CodeTransform {
        private final int number;
        private final ClassDesc returned;
        private final boolean wraps;
        private final boolean asks;

        Timing(Input input, int number, MethodModel method) {
            this.number = number;
            this.returned = method.methodTypeSymbol().returnType();
            this.wraps = returned.equals(ITERATOR) || returned.equals(ITERABLE);
            this.asks = input.isNext() && asks(method);
        }

        @Override
        public void atStart(CodeBuilder code) {
            if (!wraps) {
                code.loadConstant(number).invokestatic(HOOKS, "begin", TOLD);
            }
        }

        @Override
        public void accept(CodeBuilder code, CodeElement element) {
            if (element instanceof ReturnInstruction) {
                code.loadConstant(number);
                if (wraps) {
                    code.invokestatic(HOOKS, "timed", MethodTypeDesc.of(returned, returned, ConstantDescs.CD_int));
                } else if (asks) {
                    code.invokestatic(HOOKS, "answered", ASKED);
                } else {
                    code.invokestatic(HOOKS, "given", TOLD);
                }
            }
            code.with(element);
        }
    }
}
