// Answers questions of `solver.ts`, each a script of SMT-LIB, in the order in which they come.
import { Z3_error_code, init } from 'z3-solver';

const { Z3 } = await init();
Z3.global_param_set('timeout', process.argv[2]);
const ANSWERS = { '-1': 'unsat', 0: 'unknown', 1: 'sat' };

async function answer(script) {
  const context = Z3.mk_context(Z3.mk_config());
  const solver = Z3.mk_solver(context);
  Z3.solver_inc_ref(context, solver);
  // The functions of the package that evaluate a text free it before their thread has read it; this one reads it at once.
  Z3.solver_from_string(context, solver, script);
  const result = await Z3.solver_check(context, solver);
  const error = Z3.get_error_code(context);
  Z3.solver_dec_ref(context, solver);
  Z3.del_context(context);
  process.send(error === Z3_error_code.Z3_OK ? ANSWERS[result] : `error ${error}`);
}

process.on('message', (script) => void answer(script));
process.send('ready');
